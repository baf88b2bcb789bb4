#include "cli/views/features_view.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/views/text_lines.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

std::string_view render_usable(doctor::Usable usable) {
  switch (usable) {
    case doctor::Usable::yes:
      return "yes";
    case doctor::Usable::unknown:
      return "unknown";
    case doctor::Usable::no:
      return "no";
  }
  return "";
}

ordered_json or_nothing(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

Style style_of(doctor::Usable usable) {
  switch (usable) {
    case doctor::Usable::yes:
      return Style::good;
    case doctor::Usable::unknown:
      return Style::faint;
    case doctor::Usable::no:
      return Style::bad;
  }
  return Style::faint;
}

}  // namespace

std::string render_features(const std::vector<doctor::FeatureAnswer>& answers,
                            const std::string& title, const Output& output) {
  std::string text = output.paint(Style::strong, fmt::format("features of {}", title)) + "\n";
  if (answers.empty()) text += "  no facts are known of this release, or of this build of it\n";
  const auto faint = [&](const std::string& lines) {
    return "          " + output.paint(Style::faint, wrap_text(lines, 10)) + "\n";
  };
  for (const doctor::FeatureAnswer& answer : answers) {
    text += fmt::format(
        "  {} {}\n",
        output.paint(style_of(answer.usable), fmt::format("{:<7}", render_usable(answer.usable))),
        wrap_text(fmt::format("{}: {}", answer.title, answer.reason), 10));
    const bool no = answer.usable == doctor::Usable::no;
    if (!answer.change.empty()) text += faint((no ? "what would help: " : "") + answer.change);
    if (!answer.note.empty()) text += faint(answer.note);
    if (output.options().verbose && !answer.source.empty())
      text += faint(fmt::format("{}, {}: {}", answer.confidence, answer.date, answer.source));
  }
  return text;
}

std::string render_feature_counts(const std::vector<doctor::FeatureAnswer>& answers,
                                  const std::string& title, const Output& output) {
  if (answers.empty()) return {};
  if (output.options().verbose) return render_features(answers, title, output);
  const auto count = [&](doctor::Usable usable) {
    return std::ranges::count(answers, usable, &doctor::FeatureAnswer::usable);
  };
  return fmt::format("  features of {} here: {} usable, {} not, {} unknown (-v lists them)\n",
                     title, count(doctor::Usable::yes), count(doctor::Usable::no),
                     count(doctor::Usable::unknown));
}

nlohmann::ordered_json features_json(const std::vector<doctor::FeatureAnswer>& answers) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const doctor::FeatureAnswer& answer : answers) {
    rows.push_back({{"name", answer.name},
                    {"title", answer.title},
                    {"usable", render_usable(answer.usable)},
                    {"reason", answer.reason},
                    {"change", answer.change},
                    {"since", or_nothing(answer.since)},
                    {"until", or_nothing(answer.until)},
                    {"variant", or_nothing(answer.label)},
                    {"note", answer.note},
                    {"source", answer.source},
                    {"confidence", answer.confidence},
                    {"date", answer.date}});
  }
  return rows;
}

}  // namespace axle::cli
