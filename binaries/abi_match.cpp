#include "binaries/abi_match.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include "binaries/elf_source.h"
#include "foundation/elf/elf_dynamic.h"
#include "foundation/elf/elf_tables.h"

namespace axle::binaries {
namespace {

/// The names of libtorch's symbols have tens of megabytes.
constexpr std::uint64_t largest_symbol_table = 256U << 20;  ///< bytes
constexpr std::size_t most_symbols = 4'000'000;
constexpr std::size_t longest_demangled = 2000;  ///< bytes of a mangled name

std::size_t hash_of(std::string_view name) { return std::hash<std::string_view>{}(name); }

/// "libcudart" of libcudart.so.12
std::string_view stem_of(std::string_view name) { return name.substr(0, name.find(".so")); }

bool has(const PackageLibraries& package, std::string_view wanted) {
  return std::ranges::find(package.names, wanted) != package.names.end() ||
         std::ranges::any_of(package.libraries,
                             [&](const LinkedLibrary& one) { return one.is_called(wanted); });
}

/// What of `others` a package's libraries are linked with.
struct Links {
  std::vector<const LinkedLibrary*> libraries;
  std::set<std::string, std::less<>> scopes;
  std::optional<AbiMisfit> missing;
  bool whole = true;  ///< everything that is needed was read
};

void link(const std::string& needed, const LinkedLibrary& user,
          std::span<const PackageLibraries* const> others, Links& links) {
  for (const PackageLibraries* other : others) {
    if (!has(*other, needed)) continue;
    const auto library = std::ranges::find_if(
        other->libraries, [&](const auto& one) { return one.is_called(needed); });
    if (library == other->libraries.end()) {
      links.whole = false;
      return;
    }
    links.libraries.push_back(&*library);
    links.scopes.insert(library->scopes.begin(), library->scopes.end());
    return;
  }
  for (const PackageLibraries* other : others) {
    const bool another = std::ranges::any_of(other->names, [&](const std::string& name) {
      return name.contains(".so.") && stem_of(name) == stem_of(needed);
    });
    if (another && needed.contains(".so.") && !links.missing)
      links.missing = AbiMisfit{user.name, needed, other->title, 0};
  }
}

const std::string* owner_of(std::string_view scope,
                            std::span<const PackageLibraries* const> others) {
  for (const PackageLibraries* other : others) {
    for (const LinkedLibrary& library : other->libraries) {
      if (library.scopes.contains(scope)) return &other->title;
    }
  }
  return nullptr;
}

}  // namespace

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
  library.needed = dynamic->names(DT_NEEDED);
  if (auto sonames = dynamic->names(DT_SONAME); !sonames.empty()) library.soname = sonames.front();
  std::size_t count = 0;
  const auto read = elf::visit_dynamic_symbols(bytes, *tables, [&](const elf::DynamicSymbol& one) {
    if (++count > most_symbols) return;
    if (one.defined) {
      library.defined.insert(hash_of(one.name));
      if (std::string scope = scope_of(one.name); !scope.empty())
        library.scopes.insert(std::move(scope));
    } else if (!one.weak && !one.versioned) {
      library.undefined.emplace_back(one.name);
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

std::string AbiMisfit::render() const {
  return fmt::format("{} needs {}, which {} lacks{}", library, missing, lacking,
                     more == 0 ? "" : fmt::format(" (and {} more)", more));
}

std::set<std::string> needed_names(const PackageLibraries& package) {
  std::set<std::string> names;
  for (const LinkedLibrary& library : package.libraries) {
    for (const std::string& needed : library.needed) {
      if (!has(package, needed)) names.insert(needed);
    }
  }
  return names;
}

std::optional<AbiMisfit> find_abi_misfit(const PackageLibraries& package,
                                         std::span<const PackageLibraries* const> others) {
  std::unordered_set<std::size_t> own;
  for (const LinkedLibrary& library : package.libraries)
    own.insert(library.defined.begin(), library.defined.end());
  std::optional<AbiMisfit> first;
  for (const LinkedLibrary& library : package.libraries) {
    Links links;
    for (const std::string& needed : library.needed) {
      if (!has(package, needed)) link(needed, library, others, links);
    }
    if (links.missing) return links.missing;
    if (!links.whole) continue;
    for (const std::string& symbol : library.undefined) {
      const std::string scope = scope_of(symbol);
      if (scope.empty() || !links.scopes.contains(scope) || own.contains(hash_of(symbol))) continue;
      const bool found = std::ranges::any_of(others, [&](const PackageLibraries* other) {
        return std::ranges::any_of(other->libraries, [&](const LinkedLibrary& one) {
          return one.defined.contains(hash_of(symbol));
        });
      });
      if (found) continue;
      if (first) {
        ++first->more;
      } else {
        first = AbiMisfit{library.name, demangled(symbol), *owner_of(scope, others), 0};
      }
    }
  }
  return first;
}

}  // namespace axle::binaries
