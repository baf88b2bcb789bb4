#include "session/settings/user_defaults.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "foundation/text/nearest.h"
#include "session/settings/axle_config.h"
#include "session/settings/exclude_newer.h"
#include "session/settings/places.h"
#include "session/variables.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// How much is said, and how.
constexpr std::array own_flags = {Opt::verbose, Opt::quiet, Opt::no_color, Opt::explain,
                                  Opt::check_abi};

/// Settings that name what one command does.
constexpr std::array<std::string_view, 3> of_one_command = {"dry-run", "reinstall", "refresh"};

/// Their values are paths, or may be.
constexpr std::array<std::string_view, 11> places = {
    "index-url",  "extra-index-url", "index",  "default-index",    "find-links", "cert",
    "constraint", "override",        "python", "build-constraint", "client-cert"};

bool has_name(Opt id, std::string_view name) {
  const auto names = option_names(id);
  return std::ranges::any_of(
      names, [&](std::string_view one) { return one.starts_with("--") && one.substr(2) == name; });
}

/// Of the settings that may have a default.
const std::vector<OptionKey>& known_settings() {
  static const std::vector<OptionKey> known = [] {
    std::vector<OptionKey> all = {{Opt::constraint, "constraint"},
                                  {Opt::no_binary, "no-binary"},
                                  {Opt::only_binary, "only-binary"}};
    std::ranges::copy_if(option_keys(), std::back_inserter(all), [](const OptionKey& one) {
      return std::ranges::find(of_one_command, one.key) == of_one_command.end();
    });
    return all;
  }();
  return known;
}

/// nullptr: there is none of that name.
const OptionKey* find_setting(std::string_view name) {
  const auto& known = known_settings();
  const auto found =
      std::ranges::find_if(known, [&](const OptionKey& one) { return has_name(one.id, name); });
  return found == known.end() ? nullptr : &*found;
}

std::optional<Opt> find_flag(std::string_view name) {
  const auto found = std::ranges::find_if(own_flags, [&](Opt id) { return has_name(id, name); });
  return found == own_flags.end() ? std::nullopt : std::optional(*found);
}

/// `text` from the folder of the file that says it, or from the home folder. A version of Python is
/// no path.
std::string placed(std::string_view key, std::string text, const std::string& file) {
  const bool is_place = std::ranges::find(places, key) != places.end();
  if (!is_place || text.contains("://") || (key == "python" && !text.contains('/'))) return text;
  const auto from_file = [&](const std::string& path) {
    return (fs::path(file).parent_path() / home_expanded(path)).lexically_normal().string();
  };
  if (key != "index" && key != "default-index") return from_file(text);
  const ConfiguredIndex index = parse_index(text, file);
  return index.name.empty() ? from_file(text) : index.name + "=" + from_file(index.url);
}

class DefaultsReader {
 public:
  explicit DefaultsReader(documents::TomlTable& table) : table_(table) {}

  UserDefaults read() {
    defaults_.settings.of_uv = true;
    for (const auto& [key, node] : table_.node()) {
      const std::string name(key.str());
      if (table_.reading().error()) break;
      if (const OptionKey* const setting = find_setting(name)) {
        take(name, *setting, node);
      } else if (const auto flag = find_flag(name)) {
        if (table_.flag(name).value_or(false)) defaults_.flags.push_back(*flag);
      } else {
        refuse(name);
      }
    }
    return std::move(defaults_);
  }

 private:
  void take(const std::string& name, const OptionKey& setting, const toml::node& node) {
    const std::string origin = table_.reading().place(node);
    const bool is_list = option_row(setting.id).kind == OptionKind::list;
    if (!is_list && defaults_.settings.values.contains(setting.key))
      return table_.refuse(name, "it is said twice: another key of the table is the same setting",
                           "leave one of them out");
    const auto add = [&](std::string value) {
      if (value.empty()) return table_.refuse(name, "it is empty", "say something, or remove it");
      defaults_.settings.add(
          setting.key, placed(setting.key, std::move(value), table_.reading().where()), origin);
    };
    switch (option_row(setting.id).kind) {
      case OptionKind::flag:
        if (const auto on = table_.flag(name)) add(*on ? "true" : "false");
        break;
      case OptionKind::value:
        if (const auto* number = node.as_integer()) {
          add(fmt::format("{}", number->get()));
        } else if (auto text = table_.text(name)) {
          add(setting.id == Opt::uploaded_prior_to ? pip_cutoff(*text) : std::move(*text));
        }
        break;
      case OptionKind::list:
        if (const auto* text = node.as_string()) {
          add(text->get());
        } else {
          for (std::string& one : table_.texts(name)) add(std::move(one));
        }
        break;
    }
  }

  void refuse(const std::string& name) {
    const auto rows = option_rows();
    const bool is_option =
        std::ranges::any_of(rows, [&](const OptionRow& row) { return has_name(row.id, name); });
    if (is_option) {
      return table_.refuse(name, "this option has no default",
                           fmt::format("give --{} with each command", name));
    }
    table_.refuse(name, "there is no such option",
                  text::suggest(name, names_of_defaults(),
                                "docs/settings.md lists those that may have a default"));
  }

  documents::TomlTable& table_;
  UserDefaults defaults_;
};

}  // namespace

std::vector<std::string> names_of_defaults() {
  std::vector<std::string> names;
  const auto add = [&](Opt id) { names.push_back(option_name(id).substr(2)); };
  for (const OptionKey& one : known_settings()) add(one.id);
  std::ranges::for_each(own_flags, add);
  std::ranges::sort(names);
  return names;
}

UserDefaults read_defaults(documents::TomlTable& table) { return DefaultsReader(table).read(); }

Outcome<UserDefaults> read_user_defaults() {
  auto config = read_user_config();
  if (!config) return std::unexpected(config.error());
  return std::move(config->defaults);
}

}  // namespace axle::session
