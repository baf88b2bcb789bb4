#include "session/projects/exports/conditions.h"

#include <charconv>

namespace axle::session {
namespace {

using machines::Atom;
using machines::AtomKind;

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
  const std::string* const version = least(atom, "driver");
  if (version == nullptr) return std::nullopt;
  return *version;
}

std::optional<std::string> least_glibc(const Atom& atom) {
  constexpr std::string_view family = "glibc ";
  if (const std::string* const version = least(atom, "libc")) {
    if (version->starts_with(family)) return version->substr(family.size());
  }
  return std::nullopt;
}

std::optional<unsigned> least_level(const Atom& atom) {
  const std::string* const level = least(atom, "x86_64");
  if (level == nullptr || level->size() != 2) return std::nullopt;
  return static_cast<unsigned>(level->back() - '0');
}

std::vector<std::string> values_of(const Atom& atom, std::string_view fact) {
  const bool listed = atom.kind == AtomKind::equal || atom.kind == AtomKind::one_of;
  return atom.fact == fact && listed ? atom.values : std::vector<std::string>();
}

std::optional<std::string> needed_capability(const Atom& atom) {
  constexpr std::string_view cpu = "cpu ";
  if (atom.kind != AtomKind::has || !atom.fact.starts_with(cpu)) return std::nullopt;
  return atom.fact.substr(cpu.size());
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

std::string render_atom(const Atom& atom) { return machines::render_predicate({{atom}}); }

std::string comment_lines(std::string_view text) {
  std::string lines = "# ";
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += "# ";
  }
  return lines + "\n";
}

}  // namespace axle::session
