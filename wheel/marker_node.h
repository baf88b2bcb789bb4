#pragma once
// The tree inside a Marker, shared by its parser and its evaluation.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/cursor.h"
#include "wheel/marker.h"
#include "wheel/specifier.h"

namespace axle::wheel {

/// How the values of a variable compare (dependency specifiers, "Environment markers").
enum class VariableKind : std::uint8_t {
  text,          ///< equality and substring
  version,       ///< PEP 440 where both sides are versions, else as text
  extra,         ///< text, names normalised
  name_set,      ///< "in" and "not in" only, names normalised
  property_set,  ///< "in" and "not in" only, white space around "::" ignored
};

enum class MarkerOperator : std::uint8_t { compare, in, not_in };

/// One comparison of a variable with a quoted string.
struct MarkerClause {
  std::string_view variable;  ///< static storage: the table of variables
  VariableKind kind = VariableKind::text;
  MarkerOperator op = MarkerOperator::compare;
  Comparison comparison = Comparison::equal;  ///< for `compare`
  std::string literal;                        ///< normalised as `kind` says
  bool literal_first = false;
  /// `variable OP literal` of a version variable, where literal makes a valid specifier.
  std::optional<Specifier> specifier;
  /// Where it stands in the parsed text, of which the marker may be a part.
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A clause, or items joined by "and" and "or" ("and" binds tighter).
struct Marker::Node {
  std::optional<MarkerClause> clause;
  std::vector<Node> items;
  std::vector<bool> or_before;  ///< per item; the first is false
};

/// Reads a marker where the cursor stands and leaves it behind the marker and blanks after it.
class MarkerParser {
 public:
  explicit MarkerParser(Cursor& cursor) : cursor_(cursor) {}
  Result<Marker> parse();

 private:
  Result<Marker::Node> parse_list(unsigned depth);
  Result<Marker::Node> parse_atom(unsigned depth);
  Result<MarkerClause> parse_clause();
  bool parse_variable(MarkerClause& clause);
  Result<bool> parse_literal(MarkerClause& clause);
  Result<void> parse_operator(MarkerClause& clause);

  Cursor& cursor_;
};

[[nodiscard]] bool clause_holds(const MarkerClause& clause, const MarkerEnvironment& environment);

/// "a::b ::c" as "a :: b :: c".
[[nodiscard]] std::string normalize_property(std::string_view text);

}  // namespace axle::wheel
