#include "binaries/abi_match.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include "binaries/elf_source.h"
#include "foundation/elf/elf_dynamic.h"
#include "foundation/elf/elf_symbols.h"
#include "foundation/elf/elf_tables.h"

namespace axle::binaries {
namespace {

/// The names of libtorch's symbols have tens of megabytes.
constexpr std::uint64_t largest_symbol_table = 256U << 20;  ///< bytes
constexpr std::size_t most_symbols = 4'000'000;
/// Each is held against all libraries that its user needs; modules have some, of Python and of the
/// driver.
constexpr std::size_t most_unresolved = 20'000;
constexpr std::size_t longest_demangled = 2000;  ///< bytes of a mangled name

std::size_t hash_of(std::string_view name) { return std::hash<std::string_view>{}(name); }

/// Where libraries and symbols of a package and of those that it requires are, looked up as often
/// as a hostile file asks for it.
class LinkMap {
 public:
  LinkMap(const PackageLibraries& package, std::span<const PackageLibraries* const> others)
      : package_(package) {
    add(package);
    for (const PackageLibraries* other : others) add(*other);
  }

  struct Provider {
    const PackageLibraries* package = nullptr;  ///< nullptr: none of them has it
    const LinkedLibrary* library = nullptr;     ///< nullptr: it was not read
  };
  /// Of libraries of the package itself nothing is asked.
  [[nodiscard]] Provider provider_of(std::string_view needed) const {
    const auto known = providers_.find(needed);
    return known == providers_.end() || known->second.package == &package_ ? Provider()
                                                                           : known->second;
  }
  [[nodiscard]] bool is_own(std::string_view needed) const {
    const auto known = providers_.find(needed);
    return known != providers_.end() && known->second.package == &package_;
  }
  /// Who has the library in another major version; nullptr: nobody.
  [[nodiscard]] const PackageLibraries* provider_of_another(std::string_view needed) const {
    const auto known = needed.contains(".so.") ? others_.find(library_stem(needed)) : others_.end();
    return known == others_.end() ? nullptr : known->second;
  }
  [[nodiscard]] bool is_defined(std::string_view symbol) const {
    return defined_.contains(hash_of(symbol));
  }

 private:
  void add(const PackageLibraries& package) {
    for (const LinkedLibrary& library : package.libraries) {
      providers_.try_emplace(library.name, Provider{&package, &library});
      if (!library.soname.empty())
        providers_.try_emplace(library.soname, Provider{&package, &library});
      defined_.insert(library.defined.begin(), library.defined.end());
    }
    for (const std::string& name : package.names) {
      providers_.try_emplace(name, Provider{&package, nullptr});
      const std::size_t stem = library_stem(name).size();
      if (!name.contains(".so.")) continue;
      // The name that libfoo.so.1.2 is asked for by may be libfoo.so.1.
      for (std::size_t end = name.find('.', stem + 4); end != name.npos;
           end = name.find('.', end + 1)) {
        providers_.try_emplace(std::string_view(name).substr(0, end), Provider{&package, nullptr});
      }
      if (&package != &package_) others_.try_emplace(library_stem(name), &package);
    }
  }

  const PackageLibraries& package_;
  std::unordered_map<std::string_view, Provider> providers_;
  std::unordered_map<std::string_view, const PackageLibraries*> others_;  ///< by stem
  std::unordered_set<std::size_t> defined_;
};

/// What of other packages a library is linked with.
struct Links {
  std::vector<LinkMap::Provider> providers;
  bool whole = true;  ///< everything that is needed was read

  /// Whose library has others of that scope; nullptr: nobody's.
  [[nodiscard]] const PackageLibraries* owner_of(std::string_view scope) const {
    const auto owner = std::ranges::find_if(providers, [&](const LinkMap::Provider& one) {
      return one.library->scopes.contains(scope);
    });
    return owner == providers.end() ? nullptr : owner->package;
  }
};

AbiMisfit lacking(const LinkedLibrary& user, std::string missing, const PackageLibraries& owner) {
  return {user.name, std::move(missing), fmt::format("which {} lacks", owner.title), 0, &owner};
}

/// A library, or a version of one, without which the loader refuses `library`.
std::optional<AbiMisfit> find_missing_library(const LinkedLibrary& library, const LinkMap& map,
                                              SystemRuntime& machine) {
  for (const std::string& needed : library.needed) {
    if (map.is_own(needed) || map.provider_of(needed).package != nullptr) continue;
    if (const PackageLibraries* other = map.provider_of_another(needed))
      return lacking(library, needed, *other);
  }
  for (const elf::VersionNeed& need : library.version_needs) {
    if (need.weak || map.is_own(need.library)) continue;
    const LinkMap::Provider provider = map.provider_of(need.library);
    if (provider.package == nullptr) {
      if (auto why = machine.lacks(need, library.machine))
        return AbiMisfit{library.name, need.version, *std::move(why)};
    } else if (provider.library != nullptr && !provider.library->versions.empty() &&
               !provider.library->versions.contains(need.version)) {
      const std::string user = library.user_of(need);
      return lacking(library,
                     fmt::format("{}{} of {}", need.version,
                                 user.empty() ? user : fmt::format(" ({})", user), need.library),
                     *provider.package);
    }
  }
  return std::nullopt;
}

/// Symbols that nobody has, of all libraries of a package.
struct Unresolved {
  std::optional<AbiMisfit> first;      ///< that is known to be missing, with the number of others
  std::size_t left = most_unresolved;  ///< that are still looked at
};

void find_missing_symbols(const LinkedLibrary& library, const LinkMap& map, Unresolved& found) {
  Links links;
  for (const std::string& needed : library.needed) {
    const LinkMap::Provider provider = map.provider_of(needed);
    if (provider.library != nullptr) links.providers.push_back(provider);
    links.whole = links.whole && (provider.package == nullptr || provider.library != nullptr);
  }
  if (!links.whole || links.providers.empty()) return;
  const auto add = [&](std::string missing, const PackageLibraries& owner) {
    if (found.first) {
      ++found.first->more;
    } else {
      found.first = lacking(library, std::move(missing), owner);
    }
  };
  std::unordered_map<std::uint16_t, const elf::VersionNeed*> needs;
  for (const elf::VersionNeed& need : library.version_needs) needs.try_emplace(need.index, &need);
  for (const VersionedSymbol& symbol : library.versioned) {
    const auto need = needs.find(symbol.version);
    if (need == needs.end() || map.is_defined(symbol.name)) continue;
    const LinkMap::Provider provider = map.provider_of(need->second->library);
    if (provider.library == nullptr) continue;
    if (found.left == 0) return;
    --found.left;
    add(fmt::format("{} of {}", demangled(symbol.name), need->second->library), *provider.package);
  }
  for (const std::string& symbol : library.undefined) {
    const std::string scope = scope_of(symbol);
    if (scope.empty() || map.is_defined(symbol)) continue;
    if (found.left == 0) return;
    --found.left;
    if (const PackageLibraries* owner = links.owner_of(scope)) add(demangled(symbol), *owner);
  }
}

}  // namespace

std::string_view library_stem(std::string_view name) { return name.substr(0, name.find(".so")); }

Result<std::vector<std::string>> read_needed(wheel::ByteSource& source, const std::string& name) {
  ElfSource bytes(source, largest_symbol_table);
  const auto tables = elf::read_tables(bytes);
  if (!tables) return std::unexpected(bytes.error(tables.error(), name));
  const auto dynamic = elf::read_dynamic(bytes, *tables);
  if (!dynamic) return std::unexpected(bytes.error(dynamic.error(), name));
  return dynamic->names(DT_NEEDED);
}

Result<LinkedLibrary> read_linked_library(wheel::ByteSource& source, std::string name) {
  ElfSource bytes(source, largest_symbol_table);
  const auto failed = [&](elf::ReadError error) {
    return std::unexpected(bytes.error(error, name));
  };
  const auto tables = elf::read_tables(bytes);
  if (!tables) return failed(tables.error());
  const auto dynamic = elf::read_dynamic(bytes, *tables);
  if (!dynamic) return failed(dynamic.error());
  LinkedLibrary library;
  library.machine = tables->machine;
  library.needed = dynamic->names(DT_NEEDED);
  if (auto sonames = dynamic->names(DT_SONAME); !sonames.empty()) library.soname = sonames.front();
  auto needs = elf::read_version_needs(bytes, *tables, *dynamic);
  if (!needs) return failed(needs.error());
  library.version_needs = std::move(*needs);
  const auto versions = elf::read_version_definitions(bytes, *tables, *dynamic);
  if (!versions) return failed(versions.error());
  library.versions.insert(versions->begin(), versions->end());
  std::size_t count = 0;
  const auto read = elf::visit_dynamic_symbols(bytes, *tables, [&](const elf::DynamicSymbol& one) {
    if (++count > most_symbols) return;
    if (one.defined) {
      library.defined.insert(hash_of(one.name));
      if (std::string scope = scope_of(one.name); !scope.empty())
        library.scopes.insert(std::move(scope));
    } else if (!one.weak && one.version == 0) {
      library.undefined.emplace_back(one.name);
    } else if (!one.weak) {
      library.versioned.push_back({std::string(one.name), one.version});
    }
  });
  if (!read) return failed(read.error());
  if (count > most_symbols)
    return fail(ErrorKind::unsupported, fmt::format("{}: it has {} symbols", name, count));
  library.name = std::move(name);
  return library;
}

std::string scope_of(std::string_view symbol) {
  if (symbol.starts_with("_Z")) {
    const std::size_t nested = symbol.find('N');
    // Special names such as vtables: _ZTVN…, _ZTIN…; functions: _ZN…, _ZNK….
    if (nested == symbol.npos || nested > 4) return {};
    std::string_view rest = symbol.substr(nested + 1);
    while (!rest.empty() && std::string_view("rVKRO").contains(rest.front())) rest.remove_prefix(1);
    std::size_t length = 0;
    while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9' && length < 1000) {
      length = length * 10 + static_cast<std::size_t>(rest.front() - '0');
      rest.remove_prefix(1);
    }
    return length == 0 || length > rest.size() ? std::string()
                                               : std::string(rest.substr(0, length));
  }
  const std::size_t first = symbol.find('_');
  if (first == 0 || first == symbol.npos) return {};
  const std::size_t second = symbol.find('_', first + 1);
  return second == symbol.npos ? std::string() : std::string(symbol.substr(0, second));
}

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z") || symbol.size() > longest_demangled) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

std::string LinkedLibrary::user_of(const elf::VersionNeed& need) const {
  const auto user = std::ranges::find(versioned, need.index, &VersionedSymbol::version);
  return user == versioned.end() ? std::string() : demangled(user->name);
}

std::string AbiMisfit::render() const {
  return fmt::format("{} needs {}, {}{}", library, missing, why,
                     more == 0 ? "" : fmt::format(" (and {} more)", more));
}

std::set<std::string> needed_names(const PackageLibraries& package) {
  const LinkMap own(package, {});
  std::set<std::string> names;
  for (const LinkedLibrary& library : package.libraries) {
    for (const std::string& needed : library.needed) {
      if (!own.is_own(needed)) names.insert(needed);
    }
  }
  return names;
}

std::optional<AbiMisfit> find_abi_misfit(const PackageLibraries& package,
                                         std::span<const PackageLibraries* const> others,
                                         SystemRuntime& machine) {
  const LinkMap map(package, others);
  Unresolved found;
  for (const LinkedLibrary& library : package.libraries) {
    if (auto missing = find_missing_library(library, map, machine)) return missing;
    find_missing_symbols(library, map, found);
  }
  return found.first;
}

std::optional<AbiMisfit> find_lost_library(const PackageLibraries& package,
                                           const PackageLibraries& before,
                                           const PackageLibraries& after,
                                           std::span<const PackageLibraries* const> others) {
  const auto brings = [](const PackageLibraries& one, std::string_view stem) {
    return std::ranges::find(one.names, stem, library_stem) != one.names.end();
  };
  for (const LinkedLibrary& library : package.libraries) {
    for (const std::string& needed : library.needed) {
      if (std::ranges::find(before.names, needed) == before.names.end()) continue;
      const std::string_view stem = library_stem(needed);
      const auto brings_it = [&](const PackageLibraries* one) { return brings(*one, stem); };
      if (!brings(package, stem) && !brings(after, stem) && std::ranges::none_of(others, brings_it))
        return lacking(library, needed, after);
    }
  }
  return std::nullopt;
}

}  // namespace axle::binaries
