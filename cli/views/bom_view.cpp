#include "cli/views/bom_view.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/views/bom_parts.h"
#include "session/direct_url.h"
#include "session/version.h"
#include "wheel/hash/sha256.h"

namespace axle::cli {

namespace {

using installer::InstalledDistribution;
using nlohmann::ordered_json;

/// Unique: an environment has one version of a package.
std::string reference_of(const InstalledDistribution& distribution) {
  return distribution.name + "==" + session::version_of(distribution);
}

void add_property(ordered_json& properties, std::string_view name, std::string_view value) {
  properties.push_back({{"name", name}, {"value", value}});
}

ordered_json properties_of(const InstalledDistribution& distribution,
                           const session::DirectUrl& direct) {
  ordered_json properties = ordered_json::array();
  if (distribution.variant) add_property(properties, "axle:variant:label", *distribution.variant);
  if (!distribution.family.empty())
    add_property(properties, "axle:variant:family", distribution.family);
  for (const wheel::Property& property : distribution.variant_properties)
    add_property(properties, "axle:variant:property", wheel::render_property(property));
  if (!distribution.installer.empty())
    add_property(properties, "axle:installer", distribution.installer);
  if (distribution.requested) add_property(properties, "axle:requested", "true");
  if (direct.editable) add_property(properties, "axle:editable", "true");
  return properties;
}

/// RECORD has urlsafe base64 of 32 bytes; empty for anything else.
std::string hexadecimal(std::string_view base64) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const std::size_t value = digits.find(c);
    if (value == digits.npos) return {};
    bits = (bits << 6U | static_cast<std::uint32_t>(value)) & 0xffffU;
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> static_cast<unsigned>(count -= 8) & 0xffU);
  }
  if (bytes.size() != 32) return {};
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

ordered_json file_components(const std::vector<wheel::RecordEntry>& record) {
  ordered_json files = ordered_json::array();
  std::set<std::string_view> known;
  for (const wheel::RecordEntry& entry : record) {
    if (entry.path.empty() || !known.insert(entry.path).second) continue;
    ordered_json file = {{"type", "file"}, {"name", entry.path}};
    if (std::string digits = hexadecimal(entry.sha256); !digits.empty()) {
      file["hashes"] =
          ordered_json::array({ordered_json{{"alg", "SHA-256"}, {"content", std::move(digits)}}});
    }
    files.push_back(std::move(file));
  }
  return files;
}

std::string maintainer_of(const wheel::CoreMetadata& metadata) {
  for (const auto& [key, value] : metadata.fields) {
    if (key == "Maintainer" && !value.empty() && value != "UNKNOWN") return value;
  }
  return {};
}

ordered_json component(const InstalledDistribution& distribution, const BillOfMaterials& bill) {
  const wheel::CoreMetadata& metadata = distribution.metadata;
  const session::DirectUrl direct = session::read_direct_url(distribution.direct_url);
  const std::string version = session::version_of(distribution);
  ordered_json row = {{"type", "library"}, {"bom-ref", reference_of(distribution)}};
  // Keys without content are left out; most may not be empty.
  const auto add = [&row](const char* key, ordered_json value) {
    if (!value.empty()) row[key] = std::move(value);
  };
  const auto add_text = [&row](const char* key, const std::string& text) {
    if (!text.empty()) row[key] = text;
  };
  add("authors", bom_authors(metadata));
  add_text("publisher", maintainer_of(metadata));
  row["name"] = metadata.name;
  row["version"] = version;
  add_text("description", metadata.summary);
  add("hashes", bom_hashes(direct));
  add("licenses", bom_licenses(metadata));
  row["purl"] = package_url(metadata.name, version, direct);
  add("externalReferences", bom_references(metadata, direct));
  if (const auto files = bill.files.find(distribution.name); files != bill.files.end())
    add("components", file_components(files->second));
  add("properties", properties_of(distribution, direct));
  return row;
}

ordered_json dependencies(const session::Inventory& inventory) {
  ordered_json rows = ordered_json::array();
  const auto needs = session::needs_within(inventory);
  for (std::size_t i = 0; i < needs.size(); ++i) {
    ordered_json row = {{"ref", reference_of(inventory.distributions[i])}};
    for (const std::size_t needed : needs[i])
      row["dependsOn"].push_back(reference_of(inventory.distributions[needed]));
    rows.push_back(std::move(row));
  }
  return rows;
}

/// What the versions and the choice of packages depend on.
ordered_json environment_properties(const installer::Environment& environment) {
  constexpr std::pair<std::string_view, std::string_view> markers[] = {
      {"axle:python:version", "python_full_version"},
      {"axle:python:implementation", "platform_python_implementation"},
      {"axle:platform:system", "platform_system"},
      {"axle:platform:machine", "platform_machine"}};
  ordered_json properties = ordered_json::array();
  for (const auto& [name, marker] : markers) {
    const auto value = environment.markers.strings.find(marker);
    if (value != environment.markers.strings.end()) add_property(properties, name, value->second);
  }
  return properties;
}

}  // namespace

std::optional<std::string> render_utc(std::uint64_t seconds) {
  constexpr std::uint64_t end_of_9999 = 253402300799;
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (seconds > end_of_9999 || ::gmtime_r(&time, &parts) == nullptr) return std::nullopt;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string render_uuid(std::string bytes, unsigned version) {
  bytes.resize(16);
  bytes[6] = static_cast<char>((static_cast<unsigned char>(bytes[6]) & 0x0fU) | version << 4U);
  bytes[8] = static_cast<char>((static_cast<unsigned char>(bytes[8]) & 0x3fU) | 0x80U);
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

ordered_json render_bom(const BillOfMaterials& bill) {
  const session::Inventory& inventory = bill.inventory;
  ordered_json tool = {{"type", "application"}, {"name", "axle"}, {"version", session::version}};
  ordered_json metadata = {{"timestamp", render_utc(bill.time).value_or("1970-01-01T00:00:00Z")},
                           {"tools", {{"components", ordered_json::array({std::move(tool)})}}},
                           {"properties", environment_properties(inventory.environment)}};
  ordered_json components = ordered_json::array();
  for (const InstalledDistribution& one : inventory.distributions)
    components.push_back(component(one, bill));
  ordered_json bom = {{"$schema", "http://cyclonedx.org/schema/bom-1.6.schema.json"},
                      {"bomFormat", "CycloneDX"},
                      {"specVersion", "1.6"},
                      {"serialNumber", bill.serial},
                      {"version", 1},
                      {"metadata", std::move(metadata)},
                      {"components", std::move(components)},
                      {"dependencies", dependencies(inventory)}};
  if (bill.serial.empty()) {
    const auto digest =
        wheel::sha256(bom.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    std::string bytes;
    for (const auto byte : digest) bytes += static_cast<char>(byte);
    bom["serialNumber"] = render_uuid(std::move(bytes), 8);
  }
  bom["serialNumber"] = "urn:uuid:" + bom["serialNumber"].get<std::string>();
  return bom;
}

}  // namespace axle::cli
