#include "wheel/variant/variant_markers.h"

#include <algorithm>
#include <array>
#include <vector>

#include "foundation/text/ascii.h"
#include "wheel/marker_node.h"
#include "wheel/metadata_field.h"
#include "wheel/requirement.h"

namespace axle::wheel {
namespace {

constexpr std::array<std::string_view, 4> variant_variables = {
    "variant_label", "variant_properties", "variant_features", "variant_namespaces"};

/// What every such variable has in its name: most METADATA is told by it that it has none.
constexpr std::string_view telling_part = "variant_";

/// What is left of a marker.
struct Remainder {
  enum class Truth { always, never, depends };
  Truth truth = Truth::depends;
  std::string text;     ///< when it depends
  bool joined = false;  ///< several clauses, to be put in parentheses inside another marker
};

class Evaluation {
 public:
  Evaluation(std::string_view text, const MarkerEnvironment& environment)
      : text_(text), environment_(environment) {}

  [[nodiscard]] Remainder evaluate(const Marker::Node& node) const {
    return node.clause ? evaluate_clause(*node.clause) : evaluate_list(node);
  }

 private:
  using Truth = Remainder::Truth;

  [[nodiscard]] Remainder evaluate_clause(const MarkerClause& clause) const {
    if (std::ranges::find(variant_variables, clause.variable) != variant_variables.end()) {
      return {clause_holds(clause, environment_) ? Truth::always : Truth::never, {}, false};
    }
    return {Truth::depends, std::string(text_.substr(clause.begin, clause.end - clause.begin)),
            false};
  }

  /// "and" binds tighter: the list is a disjunction of conjunctions.
  [[nodiscard]] Remainder evaluate_list(const Marker::Node& node) const {
    Remainder list{Truth::never, {}, false};
    for (std::size_t begin = 0; begin < node.items.size();) {
      std::size_t end = begin + 1;
      while (end < node.items.size() && !node.or_before[end]) ++end;
      Remainder part = conjunction(node, begin, end);
      begin = end;
      if (part.truth == Truth::always) return part;
      if (part.truth == Truth::never) continue;
      if (list.truth == Truth::never) {
        list = std::move(part);
      } else {
        list.text += " or " + part.text;
        list.joined = true;
      }
    }
    return list;
  }

  [[nodiscard]] Remainder conjunction(const Marker::Node& node, std::size_t begin,
                                      std::size_t end) const {
    std::vector<Remainder> parts;
    for (std::size_t i = begin; i < end; ++i) {
      Remainder part = evaluate(node.items[i]);
      if (part.truth == Truth::never) return part;
      if (part.truth == Truth::depends) parts.push_back(std::move(part));
    }
    if (parts.empty()) return {Truth::always, {}, false};
    if (parts.size() == 1) return std::move(parts.front());
    Remainder all{Truth::depends, {}, true};
    for (const Remainder& part : parts) {
      if (!all.text.empty()) all.text += " and ";
      all.text += part.joined ? "(" + part.text + ")" : part.text;
    }
    return all;
  }

  std::string_view text_;
  const MarkerEnvironment& environment_;
};

const MarkerClause& first_clause(const Marker::Node& node) {
  return node.clause ? *node.clause : first_clause(node.items.front());
}

/// A field with the lines that go on with it, and the end of the last one.
std::string_view take_field(std::string_view& rest) {
  std::size_t end = line_length(rest);
  while (continues_field(rest.substr(end))) end += line_length(rest.substr(end));
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(end);
  return field;
}

}  // namespace

MarkerEnvironment variant_markers(const MarkerEnvironment& target, std::string_view label,
                                  const VariantProperties& supported) {
  MarkerEnvironment environment = target;
  environment.strings.insert_or_assign("variant_label", std::string(label));
  auto& properties = environment.sets["variant_properties"];
  auto& features = environment.sets["variant_features"];
  auto& namespaces = environment.sets["variant_namespaces"];
  for (const Property& property : supported) {
    properties.insert(render_property(property));
    features.insert(property.ns + " :: " + property.feature);
    namespaces.insert(property.ns);
  }
  return environment;
}

bool mentions_variant(const Marker& marker) {
  return std::ranges::any_of(variant_variables,
                             [&](std::string_view name) { return marker.mentions(name); });
}

Result<std::optional<std::string>> evaluate_variant_requirement(
    std::string_view text, const MarkerEnvironment& environment) {
  const auto requirement = parse_requirement(text);
  if (!requirement) return std::unexpected(requirement.error());
  if (!requirement->marker || !mentions_variant(*requirement->marker)) return std::string(text);
  const Marker::Node& root = *requirement->marker->root();
  const Remainder remainder = Evaluation(text, environment).evaluate(root);
  if (remainder.truth == Remainder::Truth::never) return std::nullopt;
  // Between ";" and the first clause stand blanks and parentheses alone.
  const std::size_t semicolon = text.rfind(';', first_clause(root).begin);
  std::string evaluated(text::trim_ascii(text.substr(0, semicolon)));
  if (remainder.truth == Remainder::Truth::always) return evaluated;
  evaluated = text.substr(0, semicolon + 1);
  evaluated += ' ';
  return evaluated += remainder.text;
}

Result<std::string> evaluate_variant_metadata(std::string_view text,
                                              const MarkerEnvironment& environment) {
  std::string evaluated;
  if (!text.contains(telling_part)) return evaluated = text;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view after = rest;
    const std::string_view lines = take_field(rest);
    const auto field = split_field(lines.substr(0, lines.find_first_of("\r\n")));
    if (!field) return evaluated += after;
    if (!same_field(field->name, "Requires-Dist") || !lines.contains(telling_part)) {
      evaluated += lines;
      continue;
    }
    const std::string_view value = text::trim_ascii(lines.substr(field->name.size() + 1));
    auto requirement = evaluate_variant_requirement(value, environment);
    if (!requirement) return std::unexpected(within("Requires-Dist", requirement.error()));
    if (!*requirement) continue;
    const std::size_t at = static_cast<std::size_t>(value.data() - lines.data());
    evaluated += lines.substr(0, at);
    evaluated += **requirement;
    evaluated += lines.substr(at + value.size());
  }
  return evaluated;
}

}  // namespace axle::wheel
