#include "wheel/marker.h"

#include <algorithm>
#include <optional>

#include "foundation/text/ascii.h"
#include "wheel/marker_node.h"
#include "wheel/requirement.h"
#include "wheel/specifier_scan.h"

namespace axle::wheel {
namespace {

/// Instead of the one that an environment has; nullopt: that one.
using Extra = std::optional<std::string_view>;

/// The value of a variable; what cannot be computed is "0" for a version, "" for a text.
std::string value_of(const MarkerClause& clause, const MarkerEnvironment& environment,
                     Extra extra) {
  if (extra && clause.kind == VariableKind::extra) return normalize_name(*extra);
  const auto found = environment.strings.find(clause.variable);
  if (found == environment.strings.end()) {
    return clause.kind == VariableKind::version ? "0" : "";
  }
  if (clause.kind == VariableKind::extra) return normalize_name(found->second);
  // CPython built between two tags calls itself "3.14.0a2+".
  if (clause.variable == "python_full_version" && found->second.ends_with('+')) {
    return found->second + "local";
  }
  return found->second;
}

bool specifier_holds(const Specifier& specifier, const std::string& value) {
  if (specifier.comparison == Comparison::arbitrary) {
    return text::ascii_lower(specifier.text) == text::ascii_lower(text::trim_ascii(value));
  }
  const auto version = parse_version(value);
  return version && specifier.contains(*version);
}

/// Ordering is not defined between texts: "<=" and ">=" mean "==", the rest is false.
bool text_holds(Comparison comparison, const std::string& left, const std::string& right) {
  switch (comparison) {
    case Comparison::equal:
    case Comparison::less_equal:
    case Comparison::greater_equal:
      return left == right;
    case Comparison::not_equal:
      return left != right;
    default:
      return false;
  }
}

bool string_clause_holds(const MarkerClause& clause, const MarkerEnvironment& environment,
                         Extra extra) {
  const std::string value = value_of(clause, environment, extra);
  const std::string& left = clause.literal_first ? clause.literal : value;
  const std::string& right = clause.literal_first ? value : clause.literal;
  if (clause.op != MarkerOperator::compare) {
    return (right.find(left) != std::string::npos) == (clause.op == MarkerOperator::in);
  }
  if (clause.specifier) return specifier_holds(*clause.specifier, value);
  if (clause.kind == VariableKind::version && clause.literal_first) {
    std::string text(comparison_text(clause.comparison));
    if (const auto specifier = parse_specifier(text += value)) {
      return specifier_holds(*specifier, clause.literal);
    }
  }
  return text_holds(clause.comparison, left, right);
}

/// Sets know `"literal" in variable` and `not in`; all else is false.
bool set_clause_holds(const MarkerClause& clause, const MarkerEnvironment& environment) {
  if (!clause.literal_first || clause.op == MarkerOperator::compare) return false;
  const auto found = environment.sets.find(clause.variable);
  const bool contained = found != environment.sets.end() &&
                         std::ranges::any_of(found->second, [&](const std::string& member) {
                           return clause.literal == (clause.kind == VariableKind::name_set
                                                         ? normalize_name(member)
                                                         : normalize_property(member));
                         });
  return contained == (clause.op == MarkerOperator::in);
}

bool holds(const MarkerClause& clause, const MarkerEnvironment& environment, Extra extra) {
  const bool is_set =
      clause.kind == VariableKind::name_set || clause.kind == VariableKind::property_set;
  return is_set ? set_clause_holds(clause, environment)
                : string_clause_holds(clause, environment, extra);
}

bool holds(const Marker::Node& node, const MarkerEnvironment& environment, Extra extra) {
  if (node.clause) return holds(*node.clause, environment, extra);
  bool conjunction = true;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (node.or_before[i]) {
      if (conjunction) return true;
      conjunction = true;
    }
    conjunction = conjunction && holds(node.items[i], environment, extra);
  }
  return conjunction;
}

bool node_mentions(const Marker::Node& node, std::string_view name) {
  if (node.clause) return node.clause->variable == name;
  return std::ranges::any_of(node.items,
                             [&](const Marker::Node& item) { return node_mentions(item, name); });
}

std::string render_clause(const MarkerClause& clause) {
  std::string_view op;
  switch (clause.op) {
    case MarkerOperator::in:
      op = "in";
      break;
    case MarkerOperator::not_in:
      op = "not in";
      break;
    case MarkerOperator::compare:
      op = comparison_text(clause.comparison);
      break;
  }
  const char mark = clause.literal.find('"') == std::string::npos ? '"' : '\'';
  const std::string literal = mark + clause.literal + mark;
  std::string text = clause.literal_first ? literal : std::string(clause.variable);
  text += ' ';
  text += op;
  text += ' ';
  text += clause.literal_first ? clause.variable : std::string_view(literal);
  return text;
}

std::string render_node(const Marker::Node& node, bool outermost) {
  if (node.clause) return render_clause(*node.clause);
  if (node.items.size() == 1) return render_node(node.items.front(), outermost);
  std::string text;
  if (!outermost) text += '(';
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (i > 0) text += node.or_before[i] ? " or " : " and ";
    text += render_node(node.items[i], false);
  }
  if (!outermost) text += ')';
  return text;
}

}  // namespace

bool clause_holds(const MarkerClause& clause, const MarkerEnvironment& environment) {
  return holds(clause, environment, std::nullopt);
}

bool Marker::evaluate(const MarkerEnvironment& environment) const {
  return root_ == nullptr || holds(*root_, environment, std::nullopt);
}

bool Marker::evaluate(const MarkerEnvironment& environment, std::string_view extra) const {
  return root_ == nullptr || holds(*root_, environment, extra);
}

bool Marker::mentions(std::string_view name) const {
  return root_ != nullptr && node_mentions(*root_, name);
}

std::string Marker::render() const {
  return root_ == nullptr ? std::string() : render_node(*root_, true);
}

}  // namespace axle::wheel
