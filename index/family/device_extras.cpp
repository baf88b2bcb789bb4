#include "index/family/device_extras.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "foundation/documents/toml_reader.h"
#include "index/family/quoted_texts.h"
#include "wheel/requirement.h"

namespace axle::index {
namespace {

constexpr std::int64_t device_extras_schema = 1;
constexpr std::string_view device_mark = "{device}";

/// Parsed when the first of their projects is asked for.
const std::vector<DeviceExtras>& parsed_device_extras() {
  static const std::vector<DeviceExtras> tables = [] {
    std::vector<DeviceExtras> all;
    for (const ShippedDeviceExtras& shipped : shipped_device_extras()) {
      // A bundled file that cannot be read fails a test.
      if (auto table = parse_device_extras(shipped.toml, std::string(shipped.name)))
        all.push_back(std::move(*table));
    }
    return all;
  }();
  return tables;
}

void read_feature(documents::TomlTable& root, DeviceExtras& table) {
  // A property without its value: one is filled in to read it.
  const auto property = wheel::parse_property(root.required_text("feature") + " :: x");
  if (!property) {
    root.refuse("feature", "expected a namespace and a feature, as in \"amd :: gfx_arch\"");
    return;
  }
  table.ns = property->ns;
  table.feature = property->feature;
}

void read_projects(documents::TomlTable& root, DeviceExtras& table) {
  for (const std::string& text : root.texts("projects")) {
    if (!wheel::is_valid_name(text))
      root.refuse("projects", fmt::format("\"{}\" is not a valid package name", text));
    table.projects.push_back(wheel::normalize_name(text));
  }
  if (table.projects.empty()) root.refuse("projects", "there are no projects");
}

}  // namespace

bool DeviceExtras::is_device_extra(std::string_view text) const {
  return text.starts_with(std::string_view(extra).substr(0, extra.find(device_mark)));
}

std::string DeviceExtras::extra_for(std::string_view device,
                                    const std::vector<std::string>& provided) const {
  std::vector<std::string> names{std::string(device)};
  if (const auto known = devices.find(device); known != devices.end())
    names.insert(names.end(), known->second.begin(), known->second.end());
  for (const std::string& own : names) {
    std::string wanted = extra;
    wanted.replace(wanted.find(device_mark), device_mark.size(), own);
    wanted = wheel::normalize_name(wanted);
    if (std::ranges::find(provided, wanted) != provided.end()) return wanted;
  }
  return {};
}

Result<DeviceExtras> parse_device_extras(std::string_view toml, std::string where) {
  const auto document = documents::parse_toml(toml, where);
  if (!document) return std::unexpected(document.error());
  documents::TomlReading reading(std::move(where));
  documents::TomlTable root(*document, "", reading);
  if (!root.has_schema(device_extras_schema)) return std::unexpected(*reading.error());
  DeviceExtras table;
  table.name = root.required_text("name");
  read_feature(root, table);
  table.extra = root.required_text("extra");
  if (!table.extra.contains(device_mark) || table.extra.starts_with(device_mark))
    root.refuse("extra", "expected a name with {device} in it, as in \"device-{device}\"");
  read_projects(root, table);
  table.date = root.required_text("date");
  for (auto& [key, text] : root.text_pairs("sources")) table.sources.emplace(key, text);
  if (table.sources.empty()) root.refuse("sources", "the facts have no source");
  if (auto devices = root.table("devices")) {
    for (const auto& [key, node] : devices->node())
      table.devices.emplace(key.str(), devices->texts(key.str()));
  }
  root.finish();
  if (reading.error()) return std::unexpected(*reading.error());
  return table;
}

const DeviceExtras* device_extras_of(std::string_view project) {
  static const QuotedTexts named(shipped_device_extras());
  if (!named.contains(project)) return nullptr;
  const auto found = std::ranges::find_if(parsed_device_extras(), [&](const DeviceExtras& table) {
    return std::ranges::find(table.projects, project) != table.projects.end();
  });
  return found == parsed_device_extras().end() ? nullptr : &*found;
}

}  // namespace axle::index
