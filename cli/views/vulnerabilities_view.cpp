#include "cli/views/vulnerabilities_view.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace axle::cli {

using nlohmann::ordered_json;

namespace {

std::vector<std::string> render_versions(const std::vector<wheel::Version>& versions) {
  std::vector<std::string> texts;
  for (const wheel::Version& version : versions) texts.push_back(wheel::render_version(version));
  return texts;
}

}  // namespace

std::string render_vulnerabilities(const std::vector<VulnerablePackage>& packages) {
  std::string text;
  for (const VulnerablePackage& package : packages) {
    for (const wheel::Vulnerability& one : package.vulnerabilities) {
      std::string line = fmt::format("{} {}: {}", package.name, package.version, one.id);
      if (!one.aliases.empty()) line += fmt::format(" ({})", fmt::join(one.aliases, ", "));
      if (!one.rating.empty()) line += ", " + one.rating;
      if (!one.summary.empty()) line += ": " + one.summary;
      line += one.fixed.empty()
                  ? "; no fixed version is known"
                  : fmt::format("; fixed in {}", fmt::join(render_versions(one.fixed), ", "));
      text += line + "\n";
    }
    if (!package.fix.empty()) text += fmt::format("  fix: {}\n", package.fix);
  }
  return text;
}

ordered_json vulnerabilities_json(const std::vector<VulnerablePackage>& packages) {
  ordered_json rows = ordered_json::array();
  for (const VulnerablePackage& package : packages) {
    for (const wheel::Vulnerability& one : package.vulnerabilities) {
      ordered_json severity = ordered_json::array();
      for (const wheel::Severity& each : one.severity)
        severity.push_back({{"type", each.type}, {"score", each.score}});
      rows.push_back(
          {{"package", package.name},
           {"version", package.version},
           {"id", one.id},
           {"aliases", one.aliases},
           {"summary", one.summary},
           {"severity", std::move(severity)},
           {"rating", one.rating.empty() ? ordered_json(nullptr) : ordered_json(one.rating)},
           {"fixed", render_versions(one.fixed)},
           {"fix",
            package.fix.empty() ? ordered_json::array() : ordered_json::array({package.fix})}});
    }
  }
  return rows;
}

}  // namespace axle::cli
