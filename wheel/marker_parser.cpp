#include <algorithm>
#include <array>
#include <utility>

#include "wheel/marker_node.h"
#include "wheel/requirement.h"
#include "wheel/specifier_scan.h"

namespace axle::wheel {
namespace {

constexpr unsigned kMaxDepth = 100;

struct MarkerVariable {
  std::string_view spelling;
  std::string_view name;
  VariableKind kind;
};

/// The dotted and short spellings are PEP 345's, still found in old packages.
constexpr std::array<MarkerVariable, 24> kVariables = {{
    {"python_version", "python_version", VariableKind::version},
    {"python_full_version", "python_full_version", VariableKind::version},
    {"os_name", "os_name", VariableKind::text},
    {"os.name", "os_name", VariableKind::text},
    {"sys_platform", "sys_platform", VariableKind::text},
    {"sys.platform", "sys_platform", VariableKind::text},
    {"platform_release", "platform_release", VariableKind::version},
    {"platform_system", "platform_system", VariableKind::text},
    {"platform_version", "platform_version", VariableKind::text},
    {"platform.version", "platform_version", VariableKind::text},
    {"platform_machine", "platform_machine", VariableKind::text},
    {"platform.machine", "platform_machine", VariableKind::text},
    {"platform_python_implementation", "platform_python_implementation", VariableKind::text},
    {"platform.python_implementation", "platform_python_implementation", VariableKind::text},
    {"python_implementation", "platform_python_implementation", VariableKind::text},
    {"implementation_name", "implementation_name", VariableKind::text},
    {"implementation_version", "implementation_version", VariableKind::version},
    {"extra", "extra", VariableKind::extra},
    {"extras", "extras", VariableKind::name_set},
    {"dependency_groups", "dependency_groups", VariableKind::name_set},
    {"variant_label", "variant_label", VariableKind::text},
    {"variant_properties", "variant_properties", VariableKind::property_set},
    {"variant_features", "variant_features", VariableKind::property_set},
    {"variant_namespaces", "variant_namespaces", VariableKind::property_set},
}};

void normalize_literal(MarkerClause& clause) {
  if (clause.kind == VariableKind::extra || clause.kind == VariableKind::name_set) {
    clause.literal = normalize_name(clause.literal);
  } else if (clause.kind == VariableKind::property_set) {
    clause.literal = normalize_property(clause.literal);
  } else if (clause.kind == VariableKind::version && !clause.literal_first &&
             clause.op == MarkerOperator::compare) {
    std::string text(comparison_text(clause.comparison));
    auto specifier = parse_specifier(text += clause.literal);
    if (specifier) clause.specifier = std::move(*specifier);
  }
}

}  // namespace

std::string normalize_property(std::string_view text) {
  std::string normalized;
  while (true) {
    const std::size_t colons = text.find("::");
    normalized += text::trim_ascii(text.substr(0, colons));
    if (colons == std::string_view::npos) return normalized;
    normalized += " :: ";
    text.remove_prefix(colons + 2);
  }
}

Result<Marker> MarkerParser::parse() {
  auto root = parse_list(0);
  if (!root) return std::unexpected(std::move(root.error()));
  Marker marker;
  marker.root_ = std::make_shared<const Marker::Node>(std::move(*root));
  return marker;
}

Result<Marker::Node> MarkerParser::parse_list(unsigned depth) {
  Marker::Node list;
  bool is_or = false;
  do {
    auto atom = parse_atom(depth);
    if (!atom) return atom;
    list.items.push_back(std::move(*atom));
    list.or_before.push_back(is_or);
    is_or = cursor_.accept_word("or");
  } while (is_or || cursor_.accept_word("and"));
  return list;
}

Result<Marker::Node> MarkerParser::parse_atom(unsigned depth) {
  cursor_.skip_blanks();
  if (!cursor_.accept('(')) {
    auto clause = parse_clause();
    if (!clause) return std::unexpected(std::move(clause.error()));
    Marker::Node leaf;
    leaf.clause = std::move(*clause);
    return leaf;
  }
  if (depth == kMaxDepth) return cursor_.refuse("parentheses are nested too deeply");
  auto list = parse_list(depth + 1);
  if (!list) return list;
  if (!cursor_.accept(')')) return cursor_.expected("\"and\", \"or\" or \")\"");
  cursor_.skip_blanks();
  return list;
}

Result<MarkerClause> MarkerParser::parse_clause() {
  MarkerClause clause;
  clause.begin = cursor_.position();
  const auto literal_first = parse_literal(clause);
  if (!literal_first) return std::unexpected(literal_first.error());
  clause.literal_first = *literal_first;
  if (!clause.literal_first && !parse_variable(clause)) {
    return cursor_.expected("a marker variable or a quoted string");
  }
  cursor_.skip_blanks();
  if (auto done = parse_operator(clause); !done) return std::unexpected(std::move(done.error()));
  cursor_.skip_blanks();
  if (clause.literal_first) {
    if (!parse_variable(clause)) return cursor_.expected("a marker variable");
  } else {
    const auto literal = parse_literal(clause);
    if (!literal) return std::unexpected(literal.error());
    if (!*literal) return cursor_.expected("a quoted string");
  }
  clause.end = cursor_.position();
  cursor_.skip_blanks();
  normalize_literal(clause);
  return clause;
}

bool MarkerParser::parse_variable(MarkerClause& clause) {
  const auto row = std::ranges::find_if(kVariables, [&](const MarkerVariable& variable) {
    return cursor_.accept_word(variable.spelling);
  });
  if (row == kVariables.end()) return false;
  clause.variable = row->name;
  clause.kind = row->kind;
  return true;
}

/// PEP 508 strings know no escapes: a backslash is a backslash.
Result<bool> MarkerParser::parse_literal(MarkerClause& clause) {
  const char mark = cursor_.peek();
  if (mark != '"' && mark != '\'') return false;
  const std::size_t end = cursor_.rest().find(mark, 1);
  if (end == std::string_view::npos) return cursor_.refuse("a quoted string that does not end");
  const std::string_view text = cursor_.rest().substr(1, end - 1);
  const auto breaks_line = [](char c) { return c == '\n' || c == '\r' || c == '\0'; };
  if (std::ranges::any_of(text, breaks_line)) {
    return cursor_.refuse("a quoted string that spans lines");
  }
  clause.literal = std::string(text);
  cursor_.advance(end + 1);
  return true;
}

Result<void> MarkerParser::parse_operator(MarkerClause& clause) {
  if (cursor_.accept_word("in")) {
    clause.op = MarkerOperator::in;
    return {};
  }
  if (cursor_.accept_word("not")) {
    clause.op = MarkerOperator::not_in;
    if (!cursor_.skip_blanks() || !cursor_.accept_word("in")) {
      return cursor_.expected("\"in\" after \"not\"");
    }
    return {};
  }
  const auto comparison = scan_comparison(cursor_.rest());
  if (!comparison) return cursor_.expected("one of ==, !=, <=, >=, <, >, ~=, ===, in, not in");
  clause.comparison = *comparison;
  cursor_.advance(comparison_text(*comparison).size());
  return {};
}

Result<Marker> parse_marker(std::string_view text) {
  Cursor cursor(text, "a marker");
  auto marker = MarkerParser(cursor).parse();
  if (marker && !cursor.at_end()) return cursor.expected("\"and\", \"or\" or the end");
  return marker;
}

}  // namespace axle::wheel
