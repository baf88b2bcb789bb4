#include "cli/views/decision_view.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/views/bom_view.h"
#include "cli/views/facts_view.h"
#include "foundation/text/byte_size.h"
#include "index/http/redaction.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// Unknown or missing values are null.
ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json keys_json(const std::vector<plan::RankKey>& keys) {
  ordered_json out = ordered_json::array();
  for (const plan::RankKey& key : keys) out.push_back({key.ns, key.feature, key.value});
  return out;
}

/// Where the metadata and each namespace's properties come from.
std::string render_sources(const plan::Decision& decision) {
  std::string text;
  if (!decision.metadata_source.empty())
    text += fmt::format("  variants from {}\n", decision.metadata_source);
  for (const plan::NamespaceOrigin& origin : decision.origins) {
    text += fmt::format("  namespace {}: {}{}{}\n", origin.ns, plan::render_origin(origin.origin),
                        origin.detail.empty() ? "" : ", ", origin.detail);
  }
  return text;
}

/// What many wheels of a release have in common: those for other systems and Pythons each have tags
/// of their own.
std::string common_reason(const plan::SkippedFile& file) {
  if (file.code == plan::SkipCode::tags) return "for other interpreters and platforms";
  return file.reason;
}

/// A line a wheel; unless all are asked for, a line for those with one reason.
std::string render_skipped_files(const std::vector<plan::SkippedFile>& skipped, bool all) {
  std::vector<std::pair<std::string, std::vector<const plan::SkippedFile*>>> groups;
  for (const plan::SkippedFile& file : skipped) {
    std::string reason = common_reason(file);
    const auto known = std::ranges::find(groups, reason, [](const auto& one) { return one.first; });
    if (all || known == groups.end()) {
      groups.emplace_back(std::move(reason), std::vector{&file});
    } else {
      known->second.push_back(&file);
    }
  }
  std::string text;
  for (const auto& [reason, files] : groups) {
    const plan::SkippedFile& first = *files.front();
    text += files.size() == 1
                ? fmt::format("  skipped  {}: {}\n", first.filename, first.reason)
                : fmt::format("  skipped  {} wheels: {} (-v lists them)\n", files.size(), reason);
  }
  return text;
}

}  // namespace

std::string render_answer(const plan::ResolvedPackage& package, const Output& output) {
  // The label of a family's build is also its local version.
  const wheel::Version version =
      package.family.empty() ? package.version : package.version.public_version();
  const std::string_view because = package.decision.chosen_because;
  return fmt::format(
      "{}{}{}{}\n",
      output.paint(Style::strong,
                   fmt::format("{} {}: {}", package.name, wheel::render_version(version),
                               package.variant.value_or("the plain wheel"))),
      package.built_from ? fmt::format(", built from {} by {}", package.built_from->filename,
                                       package.built_from->builder)
                         : "",
      because.empty() ? "" : ", because ", because);
}

std::string render_decision(const plan::Decision& decision, const std::string& chosen_label,
                            const Output& output) {
  const bool sources = output.options().verbose;
  std::string text = sources ? render_sources(decision) : std::string();
  if (!decision.gpu_policy.empty())
    text += fmt::format("  GPUs that count: {}\n", decision.gpu_policy);
  for (const plan::Fit& variant : decision.ranked) {
    const bool chosen = variant.label == chosen_label;
    const std::string mark = chosen ? output.paint(Style::good, "chosen  ") : "fits    ";
    text += fmt::format("  {} {}\n", mark,
                        output.paint(chosen ? Style::strong : Style::faint, variant.label));
    if (sources && !variant.evidence.empty())
      text += fmt::format("             {}\n", variant.evidence);
    for (const auto& [property, facts] : variant.properties) {
      text += fmt::format("             {}{}{}\n", wheel::render_property(property),
                          facts.empty() ? "" : ": ", render_facts(facts));
    }
  }
  for (const plan::Verdict& verdict : decision.rejected) {
    text += fmt::format("  {} {}\n             {}: {}\n", output.paint(Style::bad, "rejected"),
                        output.paint(Style::faint, verdict.label),
                        wheel::render_property(verdict.property),
                        verdict.facts.empty() ? verdict.reason : render_facts(verdict.facts));
    if (sources && !verdict.evidence.empty())
      text += fmt::format("             {}\n", verdict.evidence);
  }
  text += render_skipped_files(decision.skipped, output.options().verbose);
  return text;
}

std::string render_explanation(const resolver::Explanation& explanation, const Output& output) {
  const bool chosen = explanation.chosen.has_value();
  const std::string label = chosen ? explanation.chosen->variant.value_or("") : std::string();
  const std::string title = chosen ? render_answer(*explanation.chosen, output)
                                   : fmt::format("{} {}: {}\n", explanation.name,
                                                 wheel::render_version(explanation.version),
                                                 output.paint(Style::bad, "nothing fits"));
  return title + render_decision(explanation.decision, label, output);
}

FleetRow fleet_row(const std::string& machine, const plan::ResolvedPackage& package) {
  const wheel::Version version =
      package.family.empty() ? package.version : package.version.public_version();
  return {machine, package.name,
          wheel::render_version(version) + (package.variant ? " " + *package.variant : ""),
          package.size ? text::render_bytes(*package.size) : "", package.decision.chosen_because};
}

std::string render_fleet(const std::vector<FleetRow>& rows, const Output& output) {
  if (rows.empty()) return {};
  const FleetRow title{"MACHINE", "PACKAGE", "BUILD", "SIZE", "WHY"};
  constexpr std::array columns = {&FleetRow::machine, &FleetRow::package, &FleetRow::build,
                                  &FleetRow::size};
  std::array<std::size_t, columns.size()> widths{};
  const auto widen = [&](const FleetRow& row) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      widths[i] = std::max(widths[i], (row.*columns[i]).size());
  };
  widen(title);
  for (const FleetRow& row : rows) widen(row);
  std::string text;
  const auto render = [&](const FleetRow& row, Style style) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i)
      line += fmt::format("{:<{}}  ", row.*columns[i], widths[i]);
    text += output.paint(style, line) + row.why + "\n";
  };
  render(title, Style::faint);
  for (const FleetRow& row : rows) render(row, row.package.empty() ? Style::bad : Style::strong);
  return text;
}

ordered_json variant_json(const std::optional<std::string>& variant) {
  return variant ? ordered_json(*variant) : ordered_json(nullptr);
}

namespace {

ordered_json verdict_json(const plan::Verdict& verdict) {
  ordered_json out = {{"label", verdict.label},
                      {"property", wheel::render_property(verdict.property)},
                      {"reason", verdict.reason},
                      {"fact", render_facts(verdict.facts)},
                      {"facts", facts_json(verdict.facts)}};
  if (!verdict.evidence.empty()) out["evidence"] = verdict.evidence;
  return out;
}

ordered_json conflict_json(const plan::Conflict& conflict) {
  ordered_json statements = ordered_json::array();
  for (const plan::Statement& statement : conflict.statements) {
    ordered_json needs = ordered_json::array();
    for (const plan::StatedNeed& need : statement.needs)
      needs.push_back({{"versions", need.versions}, {"needs", index::redact_url(need.needs)}});
    ordered_json rejected = ordered_json::array();
    for (const plan::Verdict& verdict : statement.rejected)
      rejected.push_back(verdict_json(verdict));
    statements.push_back({{"kind", plan::render_statement_kind(statement.kind)},
                          {"package", or_null(statement.package)},
                          {"versions", statement.versions},
                          {"needed", or_null(statement.needed)},
                          {"needs", std::move(needs)},
                          {"facts", facts_json(statement.facts)},
                          {"rejected", std::move(rejected)},
                          {"text", index::redact_url(statement.text)},
                          {"from", statement.from}});
  }
  return {{"package", or_null(conflict.package)}, {"statements", std::move(statements)}};
}

}  // namespace

ordered_json decision_json(const plan::Decision& decision) {
  ordered_json out = {
      {"metadata_source", decision.metadata_source}, {"chosen_because", decision.chosen_because},
      {"namespaces", ordered_json::array()},         {"ranked", ordered_json::array()},
      {"rejected", ordered_json::array()},           {"skipped", ordered_json::array()}};
  for (const plan::NamespaceOrigin& origin : decision.origins) {
    out["namespaces"].push_back({{"namespace", origin.ns},
                                 {"origin", plan::render_origin(origin.origin)},
                                 {"detail", origin.detail}});
  }
  if (!decision.gpu_policy.empty()) out["gpu_policy"] = decision.gpu_policy;
  for (const plan::Fit& variant : decision.ranked) {
    ordered_json properties = ordered_json::array();
    ordered_json facts = ordered_json::array();
    for (const plan::DecidingProperty& deciding : variant.properties) {
      properties.push_back(wheel::render_property(deciding.property));
      facts.push_back(facts_json(deciding.facts));
    }
    out["ranked"].push_back({{"label", variant.label},
                             {"keys", keys_json(variant.keys)},
                             {"properties", std::move(properties)},
                             {"facts", std::move(facts)}});
    if (!variant.evidence.empty()) out["ranked"].back()["evidence"] = variant.evidence;
  }
  for (const plan::Verdict& verdict : decision.rejected) {
    out["rejected"].push_back(verdict_json(verdict));
  }
  for (const plan::SkippedFile& file : decision.skipped) {
    out["skipped"].push_back(
        {{"file", file.filename}, {"code", plan::render_skip(file.code)}, {"reason", file.reason}});
  }
  return out;
}

ordered_json built_from_json(const std::optional<plan::BuiltFrom>& from) {
  if (!from) return nullptr;
  return {{"file", from->filename},          {"url", index::redact_url(from->url)},
          {"sha256", or_null(from->sha256)}, {"subdirectory", or_null(from->subdirectory)},
          {"commit", or_null(from->commit)}, {"builder", from->builder}};
}

ordered_json attestation_json(const plan::AttestationVerdict& verdict) {
  ordered_json attestations = ordered_json::array();
  for (const wheel::VerifiedAttestation& one : verdict.verified) {
    ordered_json publisher = {{"kind", one.publisher.kind}};
    for (const auto& [key, value] : one.publisher.claims) publisher[key] = value;
    attestations.push_back(
        {{"publisher", std::move(publisher)},
         {"predicate", one.predicate},
         {"sha256", one.sha256},
         {"log", one.log},
         {"log_index", one.log_index},
         {"logged_at", render_utc(static_cast<std::uint64_t>(one.logged_at)).value_or("")}});
  }
  return {{"passed", verdict.why_not.empty()},
          {"reason", or_null(verdict.why_not)},
          {"attestations", std::move(attestations)}};
}

ordered_json package_json(const plan::ResolvedPackage& package) {
  ordered_json out = {{"name", package.name},
                      {"version", wheel::render_version(package.version)},
                      {"variant", variant_json(package.variant)},
                      {"family", or_null(package.family)},
                      {"wheel", or_null(package.filename)},
                      {"url", or_null(index::redact_url(package.url))},
                      {"sha256", or_null(std::string(package.hash.sha256()))},
                      {"size", package.size ? ordered_json(*package.size) : ordered_json(nullptr)},
                      {"built_from", built_from_json(package.built_from)},
                      {"requested", package.requested},
                      {"required_by", package.required_by},
                      {"stands_for", package.stands_for},
                      {"decision", decision_json(package.decision)}};
  if (package.attestation) out["attestation"] = attestation_json(*package.attestation);
  return out;
}

ordered_json packages_json(const std::vector<plan::ResolvedPackage>& packages) {
  ordered_json out = ordered_json::array();
  for (const plan::ResolvedPackage& package : packages) out.push_back(package_json(package));
  return out;
}

ordered_json explanations_json(const std::vector<resolver::Explanation>& explanations) {
  ordered_json out = ordered_json::array();
  for (const resolver::Explanation& explanation : explanations) {
    if (explanation.chosen) {
      out.push_back(package_json(*explanation.chosen));
    } else {
      out.push_back({{"name", explanation.name},
                     {"version", wheel::render_version(explanation.version)},
                     {"decision", decision_json(explanation.decision)}});
    }
  }
  return out;
}

std::string render_conflict(const plan::Conflict& conflict, const Output& output) {
  std::string text;
  if (conflict.statements.empty()) return text;
  text = output.paint(Style::strong, "why nothing can be chosen") + "\n";
  for (const std::string& line : plan::whole_derivation(conflict))
    text += index::redact_url(line) + "\n";
  return text;
}

ordered_json unresolved_json(const resolver::Unresolved& unresolved) {
  ordered_json out;
  if (!unresolved.conflict.statements.empty()) out["conflict"] = conflict_json(unresolved.conflict);
  for (const resolver::PlannedChange& change : unresolved.changes) {
    out["plans"]["installed"].push_back({{"name", change.name},
                                         {"version", change.installed_version},
                                         {"variant", or_null(change.installed_backend)}});
    out["plans"]["proposed"].push_back(
        {{"name", change.new_name.empty() ? change.name : change.new_name},
         {"version", change.version},
         {"variant", or_null(change.backend)}});
  }
  for (const resolver::Breakage& one : unresolved.broken) {
    out["broken"].push_back(
        {{"name", one.name}, {"version", one.version}, {"needs", one.needs}, {"gets", one.gets}});
  }
  return out;
}

void warn_of_unusable_gpus(const std::vector<plan::ResolvedPackage>& packages,
                           const detect::Machine& machine, Report& report) {
  std::set<std::string, std::less<>> namespaces;
  for (const plan::ResolvedPackage& package : packages) {
    for (const plan::NamespaceOrigin& origin : package.decision.origins)
      namespaces.insert(origin.ns);
  }
  for (const detect::Gpu& gpu : machine.gpus) {
    const std::string_view vendor = detect::render_vendor(gpu.vendor);
    if (!namespaces.contains(vendor) || gpu.masked || gpu.usable == detect::Presence::present)
      continue;
    report.warn(fmt::format("{} GPU {} is present but cannot be used: {}", vendor,
                            gpu.name.empty() ? gpu.pci_address : gpu.name,
                            gpu.reason.empty() ? "the reason is unknown" : gpu.reason),
                "the chosen builds do not require it");
  }
}

}  // namespace axle::cli
