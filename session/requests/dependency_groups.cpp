#include "session/requests/dependency_groups.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/text/nearest.h"
#include "index/http/redaction.h"
#include "session/input_file.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

constexpr std::string_view file_name = "pyproject.toml";
constexpr std::size_t most_shown = 10;

/// A name for messages: of a hostile file it may be megabytes long.
std::string shown(std::string_view name) {
  constexpr std::size_t longest = 64;
  return name.size() <= longest ? std::string(name) : std::string(name.substr(0, longest)) + "...";
}

/// The first and the last of a chain that may have thousands of links.
std::string render_chain(const std::vector<std::string>& names) {
  if (names.size() <= most_shown) return fmt::format("{}", fmt::join(names, " -> "));
  constexpr std::size_t ends = most_shown / 2;
  return fmt::format("{} -> ({} more) -> {}",
                     fmt::join(names.begin(), names.begin() + ends, " -> "),
                     names.size() - 2 * ends, fmt::join(names.end() - ends, names.end(), " -> "));
}

/// "PATH:NAME", split.
struct RequestedGroup {
  std::string file;
  std::string name;
};

Result<RequestedGroup> parse_requested(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return RequestedGroup{std::string(file_name), text};
  RequestedGroup group{text.substr(0, colon), text.substr(colon + 1)};
  if (group.file.contains("://")) {
    return fail(ErrorKind::malformed,
                fmt::format("{} is a URL; dependency groups are read from disk",
                            index::redact_url(group.file)),
                "download it, check it, and name the file");
  }
  if (std::filesystem::path(group.file).filename() == file_name) return group;
  return fail(ErrorKind::malformed,
              fmt::format("`{}` is not the path of a pyproject.toml", group.file),
              "name it with --group PATH/pyproject.toml:NAME");
}

Result<DependencyGroups> read_file(const std::string& path) {
  auto text = read_input(path);
  if (!text) {
    if (text.error().kind == ErrorKind::not_found) {
      text.error().message = fmt::format("{}: no such file", path);
      text.error().hint = "name the project's: --group PATH/pyproject.toml:NAME";
    }
    return std::unexpected(std::move(text).error());
  }
  return DependencyGroups::parse(*text, path);
}

}  // namespace

/// A request in progress. Groups may include each other thousands deep: nothing is recursive.
struct DependencyGroups::Taking {
  struct Open {
    Group* group;
    std::size_t next = 0;  ///< of its entries
  };
  std::vector<FileRequirement>& into;
  std::vector<Open> open;  ///< the requested group, the one that it includes, and so on
  std::set<const Group*> is_open;
};

Result<DependencyGroups> DependencyGroups::parse(std::string_view text, std::string where) {
  DependencyGroups made(std::move(where));
  auto document = documents::parse_toml(text, made.where_);
  if (!document) return std::unexpected(std::move(document).error());
  made.document_ = std::move(*document);
  const toml::node* node = made.document_.get("dependency-groups");
  if (node == nullptr) return made;
  const toml::table* table = node->as_table();
  if (table == nullptr) {
    return fail(ErrorKind::malformed,
                fmt::format("{}:{}: `dependency-groups` is not a table", made.where_,
                            node->source().begin.line),
                "write groups as `NAME = [\"REQUIREMENT\"]` under [dependency-groups]");
  }
  for (const auto& [key, entries] : *table) {
    const std::string name = shown(key.str());
    const auto [known, is_new] =
        made.groups_.try_emplace(wheel::normalize_name(key.str()), Group{name, &entries});
    if (is_new) continue;
    return fail(ErrorKind::malformed,
                fmt::format("{}:{}: the dependency groups `{}` and `{}` have the same name, "
                            "normalised: {}",
                            made.where_, key.source().begin.line, known->second.name, name,
                            shown(known->first)),
                "rename one of them, or merge them");
  }
  return made;
}

std::vector<std::string> DependencyGroups::names() const {
  std::vector<std::string> names;
  for (const auto& [normalized, group] : groups_) names.push_back(group.name);
  return names;
}

std::vector<std::string> DependencyGroups::normalized_names() const {
  std::vector<std::string> names;
  for (const auto& [normalized, group] : groups_) names.push_back(normalized);
  return names;
}

std::string DependencyGroups::origin(const toml::node& entry, const Group& group) const {
  return fmt::format("{}:{}, group {}", where_, entry.source().begin.line, group.name);
}

/// What to do about an `unknown` name.
std::string DependencyGroups::known_names(std::string_view unknown) const {
  if (groups_.empty()) return "it has none: add [dependency-groups] to it (PEP 735)";
  std::vector<std::string> names = this->names();
  const std::string meant = text::did_you_mean(unknown, names);
  const std::size_t more = names.size() - std::min(names.size(), most_shown);
  names.resize(names.size() - more);
  return fmt::format("{}{}its groups: {}{}", meant, meant.empty() ? "" : " ",
                     fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

/// What uv alone adds to a group: `tool.uv.dev-dependencies` to `dev`, and a condition on Python.
Result<void> DependencyGroups::check_uv(std::string_view normalized) const {
  const auto uv = document_["tool"]["uv"];
  const toml::node* more = normalized == "dev" ? uv["dev-dependencies"].node() : nullptr;
  if (more != nullptr) {
    return fail(ErrorKind::malformed,
                fmt::format("{}:{}: uv adds `dev-dependencies` to the dependency group dev, pip "
                            "does not",
                            where_, more->source().begin.line),
                "move them to `dev` in [dependency-groups]");
  }
  const toml::table* settings = uv["dependency-groups"].as_table();
  if (settings == nullptr) return {};
  for (const auto& [key, node] : *settings) {
    const toml::table* setting = node.as_table();
    if (setting == nullptr || wheel::normalize_name(key.str()) != normalized) continue;
    if (!setting->contains("requires-python")) continue;
    return fail(ErrorKind::malformed,
                fmt::format("{}:{}: uv installs the dependency group {} only for some versions of "
                            "Python, pip for all",
                            where_, key.source().begin.line, shown(key.str())),
                "remove `requires-python`, and write markers in the requirements of the group");
  }
  return {};
}

Result<void> DependencyGroups::take(std::string_view name, std::vector<FileRequirement>& into) {
  const std::string normalized = wheel::normalize_name(name);
  if (auto ok = check_uv(normalized); !ok) return ok;
  const auto requested = groups_.find(normalized);
  if (requested == groups_.end()) {
    return fail(ErrorKind::not_found,
                fmt::format("{} has no dependency group `{}`", where_, shown(name)),
                known_names(name));
  }
  Taking taking{into, {}, {}};
  if (auto ok = open(requested->second, taking); !ok) return ok;
  while (!taking.open.empty()) {
    Taking::Open& current = taking.open.back();
    const toml::array& entries = *current.group->entries->as_array();
    if (current.next == entries.size()) {
      taking.is_open.erase(current.group);
      taking.open.pop_back();
    } else if (auto ok = take_entry(entries[current.next++], taking); !ok) {
      return ok;
    }
  }
  return {};
}

Result<std::vector<FileRequirement>> DependencyGroups::all_of(std::string_view name) {
  for (auto& [normalized, group] : groups_) group.taken = false;
  std::vector<FileRequirement> requirements;
  if (auto taken = take(name, requirements); !taken)
    return std::unexpected(std::move(taken).error());
  return requirements;
}

Result<void> DependencyGroups::open(Group& group, Taking& taking) const {
  if (group.taken) return {};
  if (group.entries->as_array() == nullptr) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: the group is not a list", origin(*group.entries, group)),
                fmt::format("write it as `{} = [\"REQUIREMENT\"]`", group.name));
  }
  group.taken = true;
  taking.is_open.insert(&group);
  taking.open.push_back({&group});
  return {};
}

Result<void> DependencyGroups::take_entry(const toml::node& entry, Taking& taking) {
  const Group& group = *taking.open.back().group;
  const std::string where = origin(entry, group);
  if (const auto* requirement = entry.as_string()) {
    taking.into.push_back({.text = requirement->get(), .origin = where});
    return {};
  }
  constexpr auto forms = "an entry is \"REQUIREMENT\" or {include-group = \"GROUP\"}";
  const toml::table* include = entry.as_table();
  if (include == nullptr) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: an entry is neither a string nor a table", where), forms);
  }
  for (const auto& [key, value] : *include) {
    if (key != "include-group")
      return fail(ErrorKind::malformed,
                  fmt::format("{}: an entry has the unknown key `{}`", where, shown(key.str())),
                  forms);
  }
  const auto name = (*include)["include-group"].value<std::string>();
  if (!name) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: an entry is a table without a group to include", where), forms);
  }
  const std::string normalized = wheel::normalize_name(*name);
  if (auto ok = check_uv(normalized); !ok) return ok;
  const auto included = groups_.find(normalized);
  if (included == groups_.end()) {
    return fail(
        ErrorKind::not_found,
        fmt::format("{}: includes the group `{}`, which does not exist", where, shown(*name)),
        known_names(*name));
  }
  if (!taking.is_open.contains(&included->second)) return open(included->second, taking);
  std::vector<std::string> chain;
  const auto first = std::ranges::find(taking.open, &included->second, &Taking::Open::group);
  for (auto link = first; link != taking.open.end(); ++link) chain.push_back(link->group->name);
  chain.push_back(included->second.name);
  return fail(
      ErrorKind::malformed,
      fmt::format("{}: dependency groups include each other: {}", where, render_chain(chain)),
      "remove one of these includes");
}

Result<std::vector<FileRequirement>> read_dependency_groups(
    const std::vector<std::string>& requested) {
  std::vector<FileRequirement> requirements;
  std::map<std::string, DependencyGroups, std::less<>> files;
  for (const std::string& text : requested) {
    auto group = parse_requested(text);
    if (!group) return std::unexpected(within("--group", std::move(group).error()));
    if (!wheel::is_valid_name(group->name)) {
      return fail(ErrorKind::malformed,
                  fmt::format("--group: `{}` is not a valid name of a group", shown(group->name)),
                  "names consist of letters, digits, -, _ and ., and begin and end with a letter "
                  "or a digit");
    }
    auto known = files.find(group->file);
    if (known == files.end()) {
      auto file = read_file(group->file);
      if (!file) return std::unexpected(within("--group", std::move(file).error()));
      known = files.emplace(group->file, std::move(*file)).first;
    }
    if (auto taken = known->second.take(group->name, requirements); !taken)
      return std::unexpected(std::move(taken).error());
  }
  return requirements;
}

std::string file_of_group(const std::string& requested) {
  const auto group = parse_requested(requested);
  return group ? group->file : requested;
}

bool is_requested(const std::string& file, std::string_view name,
                  const std::vector<std::string>& requested) {
  return std::ranges::any_of(requested, [&](const std::string& text) {
    const auto group = parse_requested(text);
    std::error_code absent;
    return group && wheel::normalize_name(group->name) == wheel::normalize_name(name) &&
           std::filesystem::equivalent(group->file, file, absent);
  });
}

}  // namespace axle::session
