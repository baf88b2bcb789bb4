#include "plan/conflict.h"

#include <algorithm>

namespace axle::plan {
namespace {

/// With the message and its hint that makes twelve lines at most.
constexpr std::size_t most_lines = 10;

std::string render_needs(const StatedNeed& stated) {
  std::string text = "       ";
  for (std::size_t i = 0; i < stated.versions.size(); ++i)
    text += (i == 0 ? "" : ", ") + stated.versions[i];
  return text + ": " + stated.needs;
}

}  // namespace

std::string_view render_statement_kind(StatementKind kind) {
  switch (kind) {
    case StatementKind::request:
      return "request";
    case StatementKind::constraint:
      return "constraint";
    case StatementKind::requirement:
      return "requirement";
    case StatementKind::abi:
      return "abi";
    case StatementKind::backend:
      return "backend";
    case StatementKind::family:
      return "family";
    case StatementKind::same_modules:
      return "same-modules";
    case StatementKind::unusable:
      return "unusable";
    case StatementKind::not_asked:
      return "not-asked";
    case StatementKind::kept:
      return "kept";
    case StatementKind::conclusion:
      return "conclusion";
  }
  return "conclusion";
}

std::vector<std::string> short_lines(const Conflict& conflict) {
  std::vector<std::string> lines;
  for (const Statement& statement : conflict.statements) {
    const bool needless = statement.told || statement.kind == StatementKind::conclusion;
    if (!needless && std::ranges::find(lines, statement.text) == lines.end())
      lines.push_back(statement.text);
  }
  if (lines.size() > most_lines) {
    const std::size_t more = lines.size() - (most_lines - 1);
    lines.resize(most_lines - 1);
    lines.push_back("and " + std::to_string(more) + " more; --explain shows all of them");
  }
  return lines;
}

std::vector<std::string> whole_derivation(const Conflict& conflict) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < conflict.statements.size(); ++i) {
    const Statement& statement = conflict.statements[i];
    const std::string number = std::to_string(i + 1);
    std::string line = std::string(number.size() < 3 ? 3 - number.size() : 0, ' ') + number + ". ";
    line += statement.text;
    for (std::size_t j = 0; j < statement.from.size(); ++j)
      line += (j == 0 ? " (from " : ", ") + std::to_string(statement.from[j] + 1);
    if (!statement.from.empty()) line += ")";
    lines.push_back(std::move(line));
    // The sentence has the first of them.
    if (statement.needs.size() < 3) continue;
    for (const StatedNeed& stated : statement.needs) lines.push_back(render_needs(stated));
  }
  return lines;
}

}  // namespace axle::plan
