#include "wheel/advisory/advisory.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "foundation/documents/json_object.h"
#include "foundation/documents/json_tree.h"
#include "foundation/text/ascii.h"
#include "wheel/requirement.h"

namespace axle::wheel {
namespace {

using documents::JsonNode;
using documents::JsonObject;

constexpr std::string_view ecosystem = "PyPI";
constexpr documents::ListRule any_texts{
    .item = documents::any_text, .may_be_empty = true, .may_repeat = true};

std::optional<Version> version_of(std::string_view text) {
  auto version = parse_version(text);
  return version ? std::optional(std::move(*version)) : std::nullopt;
}

std::vector<RangeEvent> read_range(JsonObject& object) {
  struct Key {
    std::string_view name;
    RangeEventKind kind;
    std::string_view everything;  ///< instead of a version
  };
  static constexpr std::array keys = {Key{"introduced", RangeEventKind::introduced, "0"},
                                      Key{"fixed", RangeEventKind::fixed, ""},
                                      Key{"last_affected", RangeEventKind::last_affected, ""},
                                      Key{"limit", RangeEventKind::limit, "*"}};
  std::vector<RangeEvent> events;
  object.require("type");
  const bool of_versions = object.text("type") == "ECOSYSTEM";
  object.require("events");
  object.each("events", [&](JsonObject& event) {
    for (const Key& key : keys) {
      if (!event.has(key.name)) continue;
      const std::string text = event.text(key.name);
      events.push_back({key.kind, text == key.everything ? std::nullopt : version_of(text)});
    }
  });
  if (!of_versions) events.clear();
  return events;
}

/// nullopt: of another ecosystem.
std::optional<AffectedPackage> read_affected(JsonObject& object) {
  AffectedPackage affected;
  bool is_python = false;
  object.part("package", [&](JsonObject& package) {
    package.require("ecosystem");
    package.require("name");
    is_python = package.text("ecosystem") == ecosystem;
    affected.name = normalize_name(package.text("name"));
  });
  if (!is_python) return std::nullopt;
  object.each("ranges", [&](JsonObject& range) {
    if (auto events = read_range(range); !events.empty())
      affected.ranges.push_back(std::move(events));
  });
  for (const std::string& text : object.list("versions", any_texts)) {
    if (auto version = version_of(text)) affected.versions.push_back(std::move(*version));
  }
  return affected;
}

std::string first_line(std::string_view text) {
  return std::string(text::trim_ascii(text.substr(0, text.find('\n'))));
}

/// nullopt: withdrawn, or about no Python package.
std::optional<Advisory> read_advisory(JsonObject& object) {
  Advisory advisory;
  object.require("id");
  advisory.id = object.text("id");
  const JsonNode* withdrawn = object.find("withdrawn");
  if (withdrawn != nullptr && withdrawn->kind != JsonNode::Kind::null) return std::nullopt;
  advisory.aliases = object.list("aliases", any_texts);
  advisory.summary = first_line(object.text("summary"));
  object.each("severity", [&](JsonObject& one) {
    advisory.severity.push_back({one.text("type"), one.text("score")});
  });
  object.each("affected", [&](JsonObject& one) {
    if (auto affected = read_affected(one)) advisory.affected.push_back(std::move(*affected));
  });
  if (const JsonNode* more = object.find("database_specific")) {
    const JsonNode* rating = more->find("severity");
    if (rating != nullptr && rating->kind == JsonNode::Kind::string) advisory.rating = rating->text;
  }
  if (advisory.affected.empty()) return std::nullopt;
  return advisory;
}

}  // namespace

Result<std::vector<Advisory>> parse_advisories(std::string_view text, const std::string& where) {
  constexpr const char* hint =
      "name an advisory in OSV's format, a list or a folder of them, or an ecosystem's all.zip";
  auto tree =
      documents::parse_json_tree(text, where, {.bytes = max_advisories_bytes, .values = 4'000'000});
  if (!tree) {
    if (tree.error().hint.empty()) tree.error().hint = hint;
    return std::unexpected(tree.error());
  }
  documents::JsonReading reading(
      where, hint, {.longest_text = 1UL << 20, .most_items = 1'000'000, .unknown_keys = true});
  std::vector<Advisory> advisories;
  const auto take = [&](JsonObject& object) {
    auto advisory = read_advisory(object);
    if (advisory) advisories.push_back(std::move(*advisory));
  };
  if (tree->kind == JsonNode::Kind::array) {
    for (std::size_t i = 0; i < tree->items.size() && !reading.error(); ++i) {
      const documents::JsonPlace whole;
      JsonObject object(tree->items[i], {.parent = &whole, .index = i}, reading);
      take(object);
    }
  } else if (JsonObject root(*tree, reading); root.has("vulns")) {
    root.each("vulns", take);
  } else if (!reading.error()) {
    take(root);
  }
  if (reading.error()) return std::unexpected(*reading.error());
  return advisories;
}

}  // namespace axle::wheel
