#include "session/projects/exports/conditions.h"

#include <algorithm>
#include <charconv>

#include "detect/nvidia/cuda_drivers.h"

namespace axle::session {
namespace {

using resolver::Atom;
using resolver::AtomKind;

/// What a version is at least, or is.
const std::string* least(const Atom& atom, std::string_view fact) {
  const bool bound = atom.kind == AtomKind::at_least || atom.kind == AtomKind::equal;
  return atom.fact == fact && bound && !atom.values.empty() ? &atom.values.front() : nullptr;
}

}  // namespace

bool is_equal(const Atom& atom, std::string_view fact, std::string_view value) {
  return atom.fact == fact && atom.kind == AtomKind::equal && atom.values.size() == 1 &&
         atom.values.front() == value;
}

std::optional<std::string> least_cuda(const Atom& atom) {
  if (const std::string* const cuda = least(atom, "cuda")) return *cuda;
  const std::string* const driver = least(atom, "driver");
  const std::string_view cuda = driver == nullptr ? "" : detect::cuda_of_driver(*driver);
  if (cuda.empty()) return std::nullopt;
  return std::string(cuda);
}

std::optional<std::string> least_glibc(const Atom& atom) {
  const std::string* const version = least(atom, "glibc");
  if (version == nullptr) return std::nullopt;
  return *version;
}

std::optional<unsigned> least_level(const Atom& atom) {
  const std::string* const level = least(atom, "x86_64");
  if (level == nullptr || level->size() != 2) return std::nullopt;
  return static_cast<unsigned>(level->back() - '0');
}

std::vector<std::string> values_of(const Atom& atom, std::string_view fact) {
  const bool listed = atom.kind == AtomKind::equal || atom.kind == AtomKind::one_of;
  const bool optional = std::ranges::find(atom.values, "none") != atom.values.end();
  return atom.fact == fact && listed && !optional ? atom.values : std::vector<std::string>();
}

std::optional<std::string> needed_capability(const Atom& atom) {
  if (atom.kind != AtomKind::has || atom.fact != "cpu" || atom.values.empty()) return std::nullopt;
  return atom.values.front();
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
