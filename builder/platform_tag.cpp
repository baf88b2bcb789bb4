#include "builder/platform_tag.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <elf.h>
#include <fmt/format.h>

#include "binaries/elf_source.h"
#include "binaries/linkage.h"
#include "binaries/platform_policy.h"
#include "foundation/elf/elf_dynamic.h"
#include "foundation/elf/elf_symbols.h"
#include "foundation/elf/elf_tables.h"
#include "wheel/specifier.h"

namespace axle::builder {

using wheel::WheelMember;

namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string name_of_machine(std::uint16_t machine) {
  return machine == EM_X86_64 ? "x86_64" : machine == EM_AARCH64 ? "aarch64" : "";
}

/// The parts of a file that determine where it loads.
struct SharedLibrary {
  bool shared = false;       ///< a shared library or program; false: an object file
  std::string architecture;  ///< "x86_64", "aarch64"; empty for another
  std::vector<std::string> needed;
  std::vector<elf::VersionNeed> version_needs;
  bool python_module = false;
};

std::expected<SharedLibrary, elf::ReadError> read_library(std::string_view content) {
  elf::MemoryBytes bytes(content);
  const auto tables = elf::read_tables(bytes);
  if (!tables) return std::unexpected(tables.error());
  SharedLibrary library;
  library.shared = tables->type == ET_DYN || tables->type == ET_EXEC;
  library.architecture = name_of_machine(tables->machine);
  if (!library.shared) return library;
  const auto dynamic = elf::read_dynamic(bytes, *tables);
  if (!dynamic) return std::unexpected(dynamic.error());
  if (!dynamic->whole()) return std::unexpected(elf::ReadError::outside);
  library.needed = dynamic->names(DT_NEEDED);
  auto versions = elf::read_version_needs(bytes, *tables, *dynamic);
  if (!versions) return std::unexpected(versions.error());
  library.version_needs = std::move(*versions);
  const auto module = elf::defines_symbol(bytes, *tables, "PyInit_");
  if (!module) return std::unexpected(module.error());
  library.python_module = *module;
  return library;
}

/// The N of the oldest Python 3.N that is allowed; nullopt if all are.
std::optional<unsigned> oldest_python(const std::string& requires_python) {
  constexpr unsigned first_stable_abi = 2;  // PEP 384
  constexpr unsigned newest = 99;
  const auto specifiers = wheel::parse_specifiers(requires_python);
  if (!specifiers) return std::nullopt;
  for (unsigned minor = first_stable_abi; minor <= newest; ++minor) {
    const auto last = wheel::parse_version(fmt::format("3.{}.999", minor));
    if (!last || !specifiers->contains(*last)) continue;
    return minor == first_stable_abi ? std::nullopt : std::optional(minor);
  }
  return std::nullopt;
}

/// Collects the files one by one.
class TagScan {
 public:
  TagScan(const std::vector<WheelMember>& members, const TagRules& rules) : rules_(rules) {
    for (const WheelMember& member : members) own_files_.insert(file_name(member.path));
  }

  Result<void> add(const WheelMember& member) {
    const auto elf = read_library(member.content);
    if (!elf) return std::unexpected(binaries::elf_error(elf.error(), member.path));
    if (!elf->shared) return {};
    if (auto checked = check_architecture(*elf, member.path); !checked) return checked;
    if (auto checked = check_libraries(*elf, member.path); !checked) return checked;
    if (auto checked = check_versions(*elf, member.path); !checked) return checked;
    if (!elf->python_module) return {};
    if (auto checked = check_module_name(*elf, member.path); !checked) return checked;
    if (rules_.platform_only) return {};
    return add_module(member.path);
  }

  [[nodiscard]] TagChoice choice() const {
    if (architecture_.empty()) return {rules_.python_tag, "none", "any", true};
    const unsigned oldest = binaries::oldest_manylinux(architecture_);
    TagChoice choice{
        rules_.python_tag, "none",
        fmt::format("manylinux_2_{}_{}", std::max(glibc_minor_, oldest), architecture_), false};
    if (!python_.empty()) {
      choice.python = python_;
      choice.abi = abi_;
    } else if (!stable_abi_.empty()) {
      choice.python = stable_abi_;
      choice.abi = "abi3";
    }
    return choice;
  }

 private:
  Result<void> check_architecture(const SharedLibrary& elf, const std::string& path) {
    if (elf.architecture.empty()) {
      return fail(ErrorKind::unsupported, fmt::format("{}: for an unknown architecture", path));
    }
    if (!architecture_.empty() && elf.architecture != architecture_) {
      return fail(ErrorKind::unsupported,
                  fmt::format("{} is for {}, but other files are for {}", path, elf.architecture,
                              architecture_),
                  "a wheel has one architecture");
    }
    architecture_ = elf.architecture;
    return {};
  }

  Result<void> check_libraries(const SharedLibrary& elf, const std::string& path) {
    for (const std::string& library : elf.needed) {
      if (const auto since = binaries::system_library_since(library))
        glibc_minor_ = std::max(glibc_minor_, *since);
      const auto& allowed = rules_.allowed_libraries;
      const bool known = own_files_.contains(library) ||
                         binaries::system_library_since(library).has_value() ||
                         std::ranges::find(allowed, library) != allowed.end();
      if (known) continue;
      return fail(ErrorKind::unsupported,
                  fmt::format("{} needs {}, which is neither in the wheel nor on every machine",
                              path, library),
                  "link it statically, install it into the wheel with a run path of $ORIGIN, or "
                  "list it in tool.axle.allow-libraries");
    }
    return {};
  }

  Result<void> check_versions(const SharedLibrary& elf, const std::string& path) {
    for (const auto& need : elf.version_needs) {
      if (!binaries::is_platform_version(need.version)) continue;
      const auto minor = binaries::glibc_of_version(need.version);
      if (!minor) {
        return fail(ErrorKind::unsupported,
                    fmt::format("{} needs {} of {}, which no manylinux tag guarantees", path,
                                need.version, need.library),
                    "build with an older toolchain, or link the library statically");
      }
      glibc_minor_ = std::max(glibc_minor_, *minor);
    }
    return {};
  }

  static Result<void> check_module_name(const SharedLibrary& elf, const std::string& path) {
    const std::string name = file_name(path);
    if (!binaries::names_other_architecture(name, elf.architecture)) return {};
    return fail(ErrorKind::mismatch,
                fmt::format("{} is for {}, where Python imports no module of this name", path,
                            elf.architecture),
                fmt::format("call it {}", binaries::module_name_for(name, elf.architecture)));
  }

  // "x.cpython-311-x86_64-linux-gnu.so" -> cp311-cp311, "x.abi3.so" -> abi3 from 3.N
  Result<void> add_module(const std::string& path) {
    constexpr std::string_view mark = ".cpython-";
    const std::string name = file_name(path);
    if (name.ends_with(".abi3.so")) return add_stable_module(path);
    std::string tag;
    if (const std::size_t begin = name.find(mark); begin != std::string::npos) {
      const std::size_t digits = begin + mark.size();
      tag = "cp" + name.substr(digits, name.find('-', digits) - digits);
    }
    if (tag.size() < 4 || (!abi_.empty() && abi_ != tag)) {
      return fail(ErrorKind::unsupported,
                  fmt::format("{} is an extension module for {}", path,
                              tag.size() < 4 ? "an unnamed Python" : "another Python than " + abi_),
                  "rename it to the form module.cpython-311-x86_64-linux-gnu.so, with one Python "
                  "per wheel");
    }
    abi_ = tag;
    python_ = tag.substr(0, tag.find_last_of("0123456789") + 1);  // cp313t is an ABI of cp313
    return {};
  }

  Result<void> add_stable_module(const std::string& path) {
    const auto minor = oldest_python(rules_.requires_python);
    if (!minor) {
      return fail(
          ErrorKind::unsupported,
          fmt::format("{} uses the stable ABI, but the project does not state the oldest Python",
                      path),
          "state the Python of Py_LIMITED_API: requires-python = \">=3.9\" in [project]");
    }
    stable_abi_ = fmt::format("cp3{}", *minor);
    return {};
  }

  const TagRules& rules_;
  std::set<std::string, std::less<>> own_files_;
  std::string architecture_;
  unsigned glibc_minor_ = 0;
  std::string python_;
  std::string abi_;
  std::string stable_abi_;  ///< "cp39", of modules of the stable ABI
};

}  // namespace

std::string architecture_of_library(std::string_view content) {
  if (!elf::is_elf(content)) return {};
  elf::MemoryBytes bytes(content);
  const auto tables = elf::read_tables(bytes);
  return tables ? name_of_machine(tables->machine) : std::string();
}

Result<TagChoice> choose_tags(const std::vector<WheelMember>& members, const TagRules& rules) {
  TagScan scan(members, rules);
  for (const WheelMember& member : members) {
    if (!elf::is_elf(member.content)) continue;
    if (auto added = scan.add(member); !added) return std::unexpected(added.error());
  }
  return scan.choice();
}

}  // namespace axle::builder
