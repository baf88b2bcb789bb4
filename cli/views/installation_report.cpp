#include "cli/views/installation_report.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/views/decision_view.h"
#include "foundation/text/ascii.h"
#include "installer/environment/direct_url.h"
#include "session/version.h"
#include "wheel/core_metadata.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

struct MetadataField {
  std::string_view name;
  bool several = false;
};

/// The fields and their order are pip's.
constexpr std::array metadata_fields = {MetadataField{"Metadata-Version"},
                                        MetadataField{"Name"},
                                        MetadataField{"Version"},
                                        MetadataField{"Dynamic", true},
                                        MetadataField{"Platform", true},
                                        MetadataField{"Supported-Platform", true},
                                        MetadataField{"Summary"},
                                        MetadataField{"Description"},
                                        MetadataField{"Description-Content-Type"},
                                        MetadataField{"Keywords"},
                                        MetadataField{"Home-page"},
                                        MetadataField{"Download-URL"},
                                        MetadataField{"Author"},
                                        MetadataField{"Author-email"},
                                        MetadataField{"Maintainer"},
                                        MetadataField{"Maintainer-email"},
                                        MetadataField{"License"},
                                        MetadataField{"License-Expression"},
                                        MetadataField{"License-File", true},
                                        MetadataField{"Classifier", true},
                                        MetadataField{"Requires-Dist", true},
                                        MetadataField{"Requires-Python"},
                                        MetadataField{"Requires-External", true},
                                        MetadataField{"Project-URL", true},
                                        MetadataField{"Provides-Extra", true},
                                        MetadataField{"Provides-Dist", true},
                                        MetadataField{"Obsoletes-Dist", true}};

std::string json_name(std::string_view field) {
  std::string name = text::ascii_lower(field);
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Separated by commas; without any, by spaces.
ordered_json split_keywords(std::string_view text) {
  const bool commas = text.contains(',');
  ordered_json words = ordered_json::array();
  while (true) {
    const std::size_t end = std::min(text.find_first_of(commas ? "," : " \t\n"), text.size());
    const std::string_view word = text::trim_ascii(text.substr(0, end));
    if (commas || !word.empty()) words.push_back(word);
    if (end == text.size()) return words;
    text.remove_prefix(end + 1);
  }
}

/// PEP 566's form of METADATA.
ordered_json metadata_json(const wheel::CoreMetadata& metadata) {
  ordered_json out = ordered_json::object();
  for (const MetadataField& field : metadata_fields) {
    const std::string key = json_name(field.name);
    for (const auto& [name, value] : metadata.fields) {
      if (json_name(name) != key) continue;
      if (field.several) {
        out[key].push_back(value);
      } else if (!out.contains(key)) {
        out[key] = key == "keywords" ? split_keywords(value) : ordered_json(value);
      }
    }
  }
  if (!metadata.description.empty()) out["description"] = metadata.description;
  return out;
}

ordered_json package_json(const plan::ResolvedPackage& package,
                          const ReportedInstallation& installation) {
  const installer::WheelFacts& facts = installation.facts.at(package.url);
  const auto own = wheel::parse_core_metadata(facts.metadata, package.filename);
  ordered_json out = {{"download_info", installer::direct_url(package, facts.sha256)},
                      {"is_direct", package.direct},
                      {"is_yanked", package.yanked},
                      {"requested", package.requested},
                      {"metadata", metadata_json(own ? *own : *package.metadata)}};
  std::set<std::string> extras;
  for (const resolver::Request& request : installation.requests.requirements) {
    if (wheel::normalize_name(request.requirement.name) != package.name) continue;
    extras.insert(request.requirement.extras.begin(), request.requirement.extras.end());
  }
  if (package.requested && !extras.empty()) out["requested_extras"] = extras;
  ordered_json properties = ordered_json::array();
  for (const auto& property : package.variant_properties)
    properties.push_back(wheel::render_property(property));
  out["axle"] = {
      {"variant", variant_json(package.variant)},
      {"family", package.family.empty() ? ordered_json(nullptr) : ordered_json(package.family)},
      {"properties", std::move(properties)},
      {"file", package.filename}};
  if (package.attestation) out["axle"]["attestation"] = attestation_json(*package.attestation);
  return out;
}

}  // namespace

ordered_json installation_report(const ReportedInstallation& installation) {
  ordered_json packages = ordered_json::array();
  for (const plan::ResolvedPackage& package : installation.resolution.packages) {
    if (!package.already_installed) packages.push_back(package_json(package, installation));
  }
  ordered_json environment = ordered_json::object();
  for (const auto& [name, value] : installation.markers.strings) environment[name] = value;
  return {{"version", "1"},
          {"install", std::move(packages)},
          {"environment", std::move(environment)},
          {"axle", {{"version", session::version}}}};
}

}  // namespace axle::cli
