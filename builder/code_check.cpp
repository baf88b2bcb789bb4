#include "builder/code_check.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "binaries/binary_scan.h"
#include "binaries/cut/library_cut.h"
#include "binaries/declared_properties.h"
#include "binaries/gpu_code_match.h"
#include "binaries/instruction_scan.h"
#include "foundation/elf/elf_tables.h"

namespace axle::builder {
namespace {

using detect::Arch;
using detect::Capability;
using wheel::WheelMember;

/// A library of the wheel.
struct Library {
  const WheelMember* member;
  binaries::BinaryFacts facts;
};

std::string render_properties(const wheel::VariantProperties& properties) {
  std::vector<std::string> words;
  for (const wheel::Property& property : properties)
    words.push_back(wheel::render_property(property));
  return words.empty() ? "no property" : fmt::format("{}", fmt::join(words, ", "));
}

/// Errors: malformed, of a library that is damaged or whose GPU code is.
Result<std::vector<Library>> read_libraries(const std::vector<WheelMember>& members,
                                            const CodeDeclaration& declared, Report& report) {
  std::vector<Library> libraries;
  for (const WheelMember& member : members) {
    if (!elf::is_elf(member.content)) continue;
    const auto source = wheel::memory_source(member.content);
    auto facts = binaries::scan_binary(*source, member.path);
    Result<void> whole;
    if (facts) whole = binaries::check_gpu_code(member.content, *facts, member.path);
    if (!facts && facts.error().kind == ErrorKind::malformed)
      whole = std::unexpected(facts.error());
    if (!whole) {
      return fail(ErrorKind::malformed,
                  fmt::format("{} is not written: {}", declared.wheel, whole.error().message),
                  "the file is damaged: make it again");
    }
    if (facts) {
      libraries.push_back({&member, std::move(*facts)});
    } else {
      report.warn(fmt::format("{}: the code of {} was not checked: {}", declared.wheel, member.path,
                              facts.error().message));
    }
  }
  return libraries;
}

std::optional<Arch> arch_of(const binaries::BinaryFacts& facts) {
  for (const Arch arch : {Arch::x86_64, Arch::aarch64}) {
    if (facts.architecture == detect::render_arch(arch)) return arch;
  }
  return std::nullopt;
}

/// Compares one wheel's libraries with what it declares.
class Check {
 public:
  Check(const CodeDeclaration& declared, const std::vector<Library>& libraries,
        const std::string& work_folder, Report& report)
      : declared_(declared), libraries_(libraries), work_(work_folder), report_(report) {}

  Result<void> run() {
    if (auto done = check_architecture(); !done) return done;
    for (const Library& library : libraries_) {
      const auto arch = arch_of(library.facts);
      if (!arch) continue;
      if (auto done = check_level(library); !done) return done;
      if (auto done = check_instructions(library, *arch); !done) return done;
    }
    for (const binaries::DeclaredGpu& gpu : binaries::declared_gpus(declared_.properties)) {
      if (auto done = check_gpu(gpu); !done) return done;
    }
    return {};
  }

 private:
  [[nodiscard]] std::unexpected<Error> contradiction(std::string what, std::string hint) const {
    return fail(ErrorKind::mismatch, fmt::format("{} is not written: {}", declared_.wheel, what),
                std::move(hint));
  }

  [[nodiscard]] Result<void> check_architecture() const {
    const Arch arch = binaries::declared_architecture(declared_.properties);
    if (arch == Arch::other || libraries_.empty()) return {};
    const std::string wanted(detect::render_arch(arch));
    const bool native = std::ranges::any_of(
        libraries_, [&](const Library& one) { return one.facts.architecture == wanted; });
    if (native) return {};
    const Library& first = libraries_.front();
    return contradiction(fmt::format("{} is for {} (its ELF header), but the declared {} is for {}",
                                     first.member->path, first.facts.architecture,
                                     render_properties(declared_.properties), wanted),
                         fmt::format("build it with a compiler for {}, or declare properties of {}",
                                     wanted, first.facts.architecture));
  }

  /// The loader rejects a library that requires a level which the CPU lacks.
  [[nodiscard]] Result<void> check_level(const Library& library) const {
    if (library.facts.isa.needed.empty() || library.member->path.contains("glibc-hwcaps/"))
      return {};
    const std::string& level = library.facts.isa.needed.back();
    const auto has = binaries::declared_capabilities(declared_.properties, Arch::x86_64);
    const auto highest = static_cast<unsigned>(level.back() - '0');
    for (const Capability one : detect::x86_64_level(highest)) {
      if (has.contains(one)) continue;
      return contradiction(
          fmt::format("{} needs {} (its .note.gnu.property), but the wheel declares {}",
                      library.member->path, level, render_properties(declared_.properties)),
          fmt::format("declare x86_64 :: level :: v{}, or build it without -z {}", highest, level));
    }
    return {};
  }

  [[nodiscard]] Result<binaries::InstructionScan> scan(const Library& library, Arch arch) const {
    const std::string path = work_ + "/checked.so";
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(library.member->content.data(),
               static_cast<std::streamsize>(library.member->content.size()));
    file.close();
    auto scanned = file ? binaries::scan_instructions(path, arch)
                        : Result<binaries::InstructionScan>(
                              fail(ErrorKind::io, fmt::format("{} cannot be written", path)));
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return scanned;
  }

  [[nodiscard]] Result<void> check_instructions(const Library& library, Arch arch) const {
    const auto scanned = scan(library, arch);
    if (!scanned || !scanned->complete) {
      report_.warn(
          fmt::format("{}: the instructions of {} were not checked: {}", declared_.wheel,
                      library.member->path, scanned ? "it took too long" : scanned.error().message),
          scanned ? "" : scanned.error().hint);
      return {};
    }
    if (scanned->asks_cpu || library.facts.names_cpu_question ||
        binaries::is_chosen_by_cpu(library.member->path))
      return {};
    const auto has = binaries::declared_capabilities(declared_.properties, arch);
    std::vector<std::string> names;
    const binaries::InstructionPlace* first = nullptr;
    for (const auto& [capability, count] : scanned->counts) {
      const std::string_view name = detect::plain_name(detect::row(capability));
      const bool allowed =
          has.contains(capability) || std::ranges::find(declared_.allowed_instructions, name) !=
                                          declared_.allowed_instructions.end();
      if (allowed) continue;
      names.push_back(fmt::format("{} ({})", name, count));
      if (first == nullptr) first = &scanned->first.at(capability);
    }
    if (first == nullptr) return {};
    return contradiction(
        fmt::format("{} has instructions of {}, first `{}` in {}, and never checks the CPU; the "
                    "wheel declares {}",
                    library.member->path, fmt::join(names, ", "), first->instruction,
                    first->render(), render_properties(declared_.properties)),
        "compile it for what it declares, declare what it needs, guard that code with a CPU check, "
        "or, if it never runs unguarded, list it in tool.axle.allow-instructions");
  }

  [[nodiscard]] Result<void> check_gpu(const binaries::DeclaredGpu& gpu) const {
    std::set<std::string> found;
    const std::string cuda = binaries::declared_cuda(declared_.properties);
    binaries::CodeFit best = binaries::CodeFit::absent;
    const Library* holder = nullptr;
    for (const Library& library : libraries_) {
      if (!binaries::has_code_for(library.facts, gpu.vendor)) continue;
      if (holder == nullptr) holder = &library;
      best = std::min(best, binaries::judge_declared_gpu(library.facts, gpu, cuda));
      const auto names = binaries::code_names(library.facts, gpu.vendor);
      found.insert(names.begin(), names.end());
    }
    if (libraries_.empty() || best == binaries::CodeFit::runs) return {};
    const bool whole = std::ranges::all_of(
        libraries_, [](const Library& one) { return one.facts.unread.empty(); });
    if (holder == nullptr && whole) {
      return contradiction(
          fmt::format("it declares {}, but its libraries have no GPU code", gpu.property),
          "compile for that GPU (CMAKE_CUDA_ARCHITECTURES, CMAKE_HIP_ARCHITECTURES, "
          "-fsycl-targets), or do not declare it");
    }
    if (best == binaries::CodeFit::needs_newer_driver) {
      return contradiction(
          fmt::format("its only code for the declared {} is PTX of a newer CUDA than the declared "
                      "nvidia :: cuda_version_lower_bound :: {}",
                      gpu.property, cuda),
          "declare the CUDA that compiles it, or compile for that GPU itself");
    }
    if (holder == nullptr || best != binaries::CodeFit::absent) {
      report_.warn(fmt::format("{}: it is unknown whether it has code for {}", declared_.wheel,
                               gpu.property));
      return {};
    }
    return contradiction(
        fmt::format("none of its libraries has code for the declared {}: {} ({}) has {}",
                    gpu.property, holder->member->path, binaries::gpu_code_section(gpu.vendor),
                    found.empty() ? "no known code" : fmt::format("{}", fmt::join(found, " "))),
        "compile for that GPU as well (CMAKE_CUDA_ARCHITECTURES, CMAKE_HIP_ARCHITECTURES, "
        "-fsycl-targets), or do not declare it");
  }

  const CodeDeclaration& declared_;
  const std::vector<Library>& libraries_;
  const std::string& work_;
  Report& report_;
};

}  // namespace

Result<void> check_code(const std::vector<WheelMember>& members, const CodeDeclaration& declared,
                        const std::string& work_folder, Report& report) {
  const auto libraries = read_libraries(members, declared, report);
  if (!libraries) return std::unexpected(libraries.error());
  return Check(declared, *libraries, work_folder, report).run();
}

}  // namespace axle::builder
