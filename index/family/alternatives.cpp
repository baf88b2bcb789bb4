#include "index/family/alternatives.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "foundation/documents/toml_reader.h"
#include "index/family/quoted_texts.h"
#include "wheel/requirement.h"

namespace axle::index {
namespace {

constexpr std::int64_t alternatives_schema = 1;

std::vector<std::string> read_source_keys(documents::TomlTable& table, const Alternatives& group) {
  std::vector<std::string> keys = table.texts("source");
  if (keys.empty()) table.refuse("source", "a fact needs a source");
  for (const std::string& key : keys) {
    if (!group.sources.contains(key))
      table.refuse("source", fmt::format("source \"{}\" is not defined", key));
  }
  return keys;
}

AlternativeMember read_member(documents::TomlTable& table, const Alternatives& group) {
  AlternativeMember member;
  const auto named = wheel::parse_requirement(table.required_text("name"));
  if (!named || !named->specifiers.empty() || !named->url.empty() || named->marker) {
    table.refuse("name", "expected a project, with or without extras");
  } else {
    member.project = wheel::normalize_name(named->name);
    member.extras = named->extras;
  }
  for (const AlternativeMember& other : group.members) {
    if (other.project == member.project && other.extras == member.extras)
      table.refuse("name", fmt::format("duplicate member {}", member.project));
  }
  for (const std::string& text : table.texts("needs")) {
    auto property = wheel::parse_property(text);
    if (property) {
      member.needs.insert(std::move(*property));
    } else {
      table.refuse("needs", property.error().message);
    }
  }
  member.sources = read_source_keys(table, group);
  table.finish();
  return member;
}

/// Parsed when the first of their projects is asked for.
const std::vector<Alternatives>& parsed_groups() {
  static const std::vector<Alternatives> groups = [] {
    std::vector<Alternatives> all;
    for (const ShippedAlternatives& shipped : shipped_alternatives()) {
      // A bundled file that cannot be read fails a test.
      if (auto group = parse_alternatives(shipped.toml, std::string(shipped.name)))
        all.push_back(std::move(*group));
    }
    return all;
  }();
  return groups;
}

}  // namespace

std::vector<std::string> Alternatives::projects() const {
  std::vector<std::string> names;
  for (const AlternativeMember& member : members) {
    if (std::ranges::find(names, member.project) == names.end()) names.push_back(member.project);
  }
  return names;
}

Result<Alternatives> parse_alternatives(std::string_view toml, std::string where) {
  const auto document = documents::parse_toml(toml, where);
  if (!document) return std::unexpected(document.error());
  documents::TomlReading reading(std::move(where));
  documents::TomlTable root(*document, "", reading);
  if (!root.has_schema(alternatives_schema)) return std::unexpected(*reading.error());
  Alternatives group;
  group.name = root.required_text("name");
  group.modules = root.texts("modules");
  if (group.modules.empty()) root.refuse("modules", "there are no modules");
  group.same_versions = root.flag("same-versions").value_or(false);
  group.date = root.required_text("date");
  for (auto& [key, text] : root.text_pairs("sources")) group.sources.emplace(key, text);
  for (documents::TomlTable& table : root.tables("members"))
    group.members.push_back(read_member(table, group));
  if (group.members.size() < 2) root.refuse("members", "a group has two members or more");
  root.finish();
  if (reading.error()) return std::unexpected(*reading.error());
  return group;
}

const Alternatives* alternatives_of(std::string_view project) {
  static const QuotedTexts named(shipped_alternatives());
  if (!named.contains(project)) return nullptr;
  for (const Alternatives& group : parsed_groups()) {
    if (std::ranges::find(group.members, project, &AlternativeMember::project) !=
        group.members.end()) {
      return &group;
    }
  }
  return nullptr;
}

}  // namespace axle::index
