#pragma once
// What the atoms of a predicate mean to other tools.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resolver/predicate/predicate.h"

namespace axle::session {

[[nodiscard]] bool is_equal(const resolver::Atom& atom, std::string_view fact,
                            std::string_view value);

/// The least CUDA version that the driver must run ("12.8"), and the one that it must not reach;
/// nullopt: the atom is about something else.
[[nodiscard]] std::optional<std::string> least_cuda(const resolver::Atom& atom);
[[nodiscard]] std::optional<std::string> cuda_below(const resolver::Atom& atom);
/// "2.28"
[[nodiscard]] std::optional<std::string> least_glibc(const resolver::Atom& atom);
/// "14.0"
[[nodiscard]] std::optional<std::string> least_macos(const resolver::Atom& atom);
/// The psABI level: 3.
[[nodiscard]] std::optional<unsigned> least_level(const resolver::Atom& atom);
[[nodiscard]] std::optional<unsigned> level_below(const resolver::Atom& atom);

/// The values of a fact of which one must be.
struct ListedValues {
  std::vector<std::string> values;  ///< empty: the atom lists none
  bool none = false;                ///< a machine without the fact will do, too
};
[[nodiscard]] ListedValues listed_values(const resolver::Atom& atom, std::string_view fact);

/// "12.8" -> {12, 8}; nullopt: it does not begin with two numbers.
[[nodiscard]] std::optional<std::pair<unsigned, unsigned>> first_numbers(std::string_view version);

/// "# " before each line of `text`.
[[nodiscard]] std::string comment_lines(std::string_view text);

}  // namespace axle::session
