#include "doctor/audit/release_needs.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "doctor/audit/library_owners.h"

namespace axle::doctor {
namespace {

struct StableSymbol {
  std::string_view name;
  unsigned since;  ///< Python 3.N
};

/// Sorted by name.
constexpr StableSymbol stable_symbols[] = {
#define AXLE_STABLE_ABI(name, since) {name, since},
#include "doctor/audit/stable_abi.inc"
#undef AXLE_STABLE_ABI
};

constexpr std::string_view stable_word = "abi3";

bool uses_python(const AuditedLibrary& library) {
  return !library.linkage.modules.empty() || !library.linkage.python.empty();
}

void take_python(const AuditedLibrary& library, std::optional<unsigned> stable,
                 ReleaseNeeds& needs) {
  if (!uses_python(library)) return;
  const std::string own = python_of_name(library.name());
  const bool is_stable = own == stable_word || (own.empty() && stable);
  if (!is_stable) {
    needs.python = AbiReach::each;
    if (!own.empty()) needs.pythons.insert(own);
  } else if (needs.python == AbiReach::none) {
    needs.python = AbiReach::stable;
  }
}

/// By the symbols, where no tag says it.
std::string oldest_by_symbols(const Audited& audited) {
  unsigned oldest = 0;
  for (const AuditedLibrary& library : audited.libraries) {
    for (const std::string& symbol : library.linkage.python)
      oldest = std::max(oldest, stable_since(symbol).value_or(0));
  }
  return oldest == 0 ? std::string() : fmt::format("3.{}", oldest);
}

void take_torch(const AuditedLibrary& library, ReleaseNeeds& needs) {
  const binaries::Linkage& linkage = library.linkage;
  if (linkage.torch_cxx.count > 0) {
    if (needs.torch != AbiReach::each) needs.torch_library = library.path;
    needs.torch = AbiReach::each;
  } else if (linkage.torch_stable.count > 0 && needs.torch == AbiReach::none) {
    needs.torch = AbiReach::stable;
    needs.torch_library = library.path;
  }
}

std::string render_python(const ReleaseNeeds& needs) {
  switch (needs.python) {
    case AbiReach::each:
      return needs.pythons.empty()
                 ? std::string("each Python")
                 : fmt::format("each Python (this one: {})", fmt::join(needs.pythons, ", "));
    case AbiReach::stable:
      return needs.oldest_python.empty()
                 ? std::string("all Pythons (stable ABI)")
                 : fmt::format("all Pythons from {} on (stable ABI)", needs.oldest_python);
    case AbiReach::none:
      return "all Pythons";
  }
  return {};
}

void add_toolkit(std::string_view title, const std::set<unsigned>& majors,
                 std::vector<std::string>& parts) {
  if (!majors.empty())
    parts.push_back(fmt::format("each {} major (this one: {})", title, fmt::join(majors, ", ")));
}

}  // namespace

std::optional<unsigned> stable_since(std::string_view symbol) {
  const auto* const found =
      std::ranges::lower_bound(stable_symbols, symbol, {}, &StableSymbol::name);
  if (found == std::end(stable_symbols) || found->name != symbol) return std::nullopt;
  return found->since;
}

std::string python_of_name(std::string_view file_name) {
  constexpr std::string_view mark = ".cpython-";
  constexpr std::string_view pypy = ".pypy";
  if (file_name.ends_with(".abi3.so")) return std::string(stable_word);
  const auto word_at = [&](std::size_t begin) {
    return std::string(file_name.substr(begin, file_name.find_first_of("-.", begin) - begin));
  };
  if (const std::size_t at = file_name.find(mark); at != std::string_view::npos)
    return "cp" + word_at(at + mark.size());
  if (const std::size_t at = file_name.find(pypy); at != std::string_view::npos)
    return "pp" + word_at(at + pypy.size());
  return {};
}

std::optional<unsigned> stable_tag(const Audited& audited) {
  std::optional<unsigned> oldest;
  if (!audited.declaration) return oldest;
  for (const wheel::Tag& tag : audited.declaration->tags) {
    unsigned minor = 0;
    const std::string_view digits =
        std::string_view(tag.python).substr(std::min<std::size_t>(tag.python.size(), 3));
    if (tag.abi != stable_word || !tag.python.starts_with("cp3")) continue;
    std::from_chars(digits.data(), digits.data() + digits.size(), minor);
    oldest = std::min(oldest.value_or(minor), minor);
  }
  return oldest;
}

bool is_torch_itself(const Audited& audited) {
  return OwnNames(audited).has("libc10.so") ||
         (audited.declaration && audited.declaration->name == "torch");
}

ReleaseNeeds release_needs(const Audited& audited) {
  ReleaseNeeds needs;
  const auto stable = stable_tag(audited);
  const bool torch = is_torch_itself(audited);
  bool cuda_code = false;
  for (const AuditedLibrary& library : audited.libraries) {
    take_python(library, stable, needs);
    if (!torch) take_torch(library, needs);
    needs.architectures.insert(library.facts.architecture);
    cuda_code = cuda_code || library.facts.cuda.fatbins > 0;
    const auto take_toolkit = [&](std::string_view name) {
      if (const unsigned major = cuda_major_of(name); major != 0) needs.cuda.insert(major);
      if (const unsigned major = rocm_major_of(name); major != 0) needs.rocm.insert(major);
    };
    take_toolkit(library.name());
    for (const std::string& needed : library.facts.needed) take_toolkit(needed);
  }
  needs.static_cuda = cuda_code && needs.cuda.empty();
  if (needs.python == AbiReach::stable)
    needs.oldest_python = stable ? fmt::format("3.{}", *stable) : oldest_by_symbols(audited);
  return needs;
}

std::string ReleaseNeeds::render() const {
  if (architectures.empty()) return "one wheel: nothing in it is compiled";
  std::vector<std::string> parts = {render_python(*this)};
  if (torch == AbiReach::each) parts.emplace_back("each torch release");
  if (torch == AbiReach::stable)
    parts.emplace_back("all torch releases since the one it was built with (stable ABI)");
  add_toolkit("CUDA", cuda, parts);
  add_toolkit("ROCm", rocm, parts);
  if (static_cuda) parts.emplace_back("all CUDA drivers that run its code (no library of CUDA)");
  parts.push_back(fmt::format("each architecture (this one: {})", fmt::join(architectures, ", ")));
  return fmt::format("one wheel for {}", fmt::join(parts, ", "));
}

}  // namespace axle::doctor
