#include "cli/views/findings_view.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/repeated_options.h"
#include "cli/views/facts_view.h"
#include "cli/views/text_lines.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

Style style_of(doctor::FindingLevel level) {
  switch (level) {
    case doctor::FindingLevel::error:
      return Style::bad;
    case doctor::FindingLevel::warning:
      return Style::strong;
    case doctor::FindingLevel::info:
      return Style::faint;
  }
  return Style::faint;
}

/// Names in an environment can contain anything; and a command must be on one line to be copied.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

std::string render_evidence(const doctor::Evidence& evidence) {
  std::string text = evidence.file;
  if (!evidence.section.empty())
    text += fmt::format("{}[{}]", text.empty() ? "" : " ", evidence.section);
  if (!text.empty() && !evidence.fact.empty()) text += ": ";
  return one_line(text + evidence.fact);
}

std::string render_finding(const doctor::Finding& finding, const Output& output) {
  std::string text =
      fmt::format("{} {}{}{}\n",
                  output.paint(style_of(finding.level),
                               fmt::format("{:<7}", doctor::render_level(finding.level))),
                  output.paint(Style::strong, finding.code), finding.subject.empty() ? "" : ": ",
                  one_line(finding.subject));
  text += fmt::format("        {}\n", wrap_text(one_line(finding.message), 8));
  for (const doctor::Evidence& evidence : finding.evidence) {
    const std::string lines = wrap_text(render_evidence(evidence), 10);
    text += output.paint(Style::faint, fmt::format("        - {}", lines)) + "\n";
  }
  if (!finding.hint.empty())
    text += fmt::format("        hint: {}\n", one_line(doctor::render_hint(finding.hint)));
  return text;
}

}  // namespace

void complete_commands(doctor::Findings& findings, const session::RunOptions& run) {
  for (doctor::Finding& finding : findings.each()) {
    finding.hint.words = complete_hint(finding.hint.words, run);
    for (std::string& command : finding.hint.commands)
      command = complete_command(command, run).text;
  }
}

std::string render_findings(const doctor::Findings& findings, const Output& output) {
  std::string text;
  for (const doctor::Finding& finding : findings.all())
    text += (text.empty() ? "" : "\n") + render_finding(finding, output);
  if (findings.all().empty()) text = output.paint(Style::good, "no problems found") + "\n";
  if (!findings.unseen().empty()) {
    text += "\nnot examined:\n";
    for (const std::string& what : findings.unseen())
      text += fmt::format("  - {}\n", wrap_text(one_line(what), 4));
  }
  return text;
}

ordered_json findings_json(const doctor::Findings& findings) {
  ordered_json all = ordered_json::array();
  for (const doctor::Finding& finding : findings.all()) {
    ordered_json evidence = ordered_json::array();
    for (const doctor::Evidence& one : finding.evidence) {
      ordered_json row = ordered_json::object();
      if (!one.file.empty()) row["file"] = one.file;
      if (!one.section.empty()) row["section"] = one.section;
      row["fact"] = one.fact;
      evidence.push_back(std::move(row));
    }
    all.push_back({{"code", finding.code},
                   {"severity", doctor::render_level(finding.level)},
                   {"subject", finding.subject},
                   {"message", finding.message},
                   {"facts", facts_json(finding.facts)},
                   {"evidence", std::move(evidence)},
                   {"hint", doctor::render_hint(finding.hint)},
                   {"fix", finding.hint.commands}});
  }
  return all;
}

}  // namespace axle::cli
