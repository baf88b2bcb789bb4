#include "session/projects/exports/conditions.h"

#include <charconv>

#include "detect/nvidia/cuda_drivers.h"

namespace axle::session {
namespace {

using resolver::Atom;
using resolver::AtomKind;

/// The version that bounds `fact`; nullptr: the atom is about something else.
const std::string* bound_of(const Atom& atom, std::string_view fact, bool below) {
  const bool bounds = below ? atom.kind == AtomKind::below
                            : atom.kind == AtomKind::at_least || atom.kind == AtomKind::equal;
  return atom.fact == fact && bounds && !atom.values.empty() ? &atom.values.front() : nullptr;
}

/// A driver stands for the CUDA version that it runs.
std::optional<std::string> cuda_bound(const Atom& atom, bool below) {
  if (const std::string* const cuda = bound_of(atom, "cuda", below)) return *cuda;
  const std::string* const driver = bound_of(atom, "driver", below);
  const std::string_view cuda = driver == nullptr ? "" : detect::cuda_of_driver(*driver);
  if (cuda.empty()) return std::nullopt;
  return std::string(cuda);
}

std::optional<unsigned> level_bound(const Atom& atom, bool below) {
  const std::string* const level = bound_of(atom, "x86_64", below);
  if (level == nullptr || level->size() != 2) return std::nullopt;
  return static_cast<unsigned>(level->back() - '0');
}

}  // namespace

bool is_equal(const Atom& atom, std::string_view fact, std::string_view value) {
  return atom.fact == fact && atom.kind == AtomKind::equal && atom.values.size() == 1 &&
         atom.values.front() == value;
}

std::optional<std::string> least_cuda(const Atom& atom) { return cuda_bound(atom, false); }
std::optional<std::string> cuda_below(const Atom& atom) { return cuda_bound(atom, true); }

std::optional<std::string> least_glibc(const Atom& atom) {
  const std::string* const version = bound_of(atom, "glibc", false);
  if (version == nullptr) return std::nullopt;
  return *version;
}

std::optional<std::string> least_macos(const Atom& atom) {
  const std::string* const version = bound_of(atom, "macos", false);
  if (version == nullptr) return std::nullopt;
  return *version;
}

std::optional<unsigned> least_level(const Atom& atom) { return level_bound(atom, false); }
std::optional<unsigned> level_below(const Atom& atom) { return level_bound(atom, true); }

ListedValues listed_values(const Atom& atom, std::string_view fact) {
  if (atom.fact != fact) return {};
  if (atom.kind == AtomKind::none) return {{}, true};
  if (atom.kind != AtomKind::equal && atom.kind != AtomKind::one_of) return {};
  ListedValues listed{atom.values, false};
  listed.none = std::erase(listed.values, "none") > 0;
  // Unlike GPUs that are each in the list: what speaks of nodes tells one kind of a node.
  std::erase(listed.values, resolver::mixed_gpus);
  return listed;
}

std::optional<std::pair<unsigned, unsigned>> first_numbers(std::string_view version) {
  std::pair<unsigned, unsigned> numbers;
  const char* const end = version.data() + version.size();
  const auto major = std::from_chars(version.data(), end, numbers.first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, numbers.second);
  if (minor.ec != std::errc()) return std::nullopt;
  return numbers;
}

std::string comment_lines(std::string_view text) {
  std::string lines = "# ";
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += "# ";
  }
  return lines + "\n";
}

}  // namespace axle::session
