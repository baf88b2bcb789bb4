#include "builder/table/row_settings.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "foundation/text/nearest.h"

namespace axle::builder {

namespace {

bool is_variable_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Variables that the builder sets itself; a project that sets them would not get what it sets.
constexpr std::string_view reserved_definitions[] = {
    "CMAKE_C_FLAGS",    "CMAKE_CXX_FLAGS",      "CMAKE_CUDA_FLAGS",
    "CMAKE_BUILD_TYPE", "CMAKE_INSTALL_PREFIX", "CMAKE_HOME_DIRECTORY"};

std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "ON" : "OFF";
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  return std::nullopt;
}

std::optional<std::string> cmake_value(const toml::node& node) {
  if (auto text = text_of(node)) return text;
  const toml::array* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  std::string list;
  for (const toml::node& element : *array) {
    if (!element.is_string()) return std::nullopt;
    list += (list.empty() ? "" : ";") + element.as_string()->get();
  }
  return list;
}

Definitions read_environment(documents::TomlTable& parent) {
  Definitions variables;
  auto table = parent.table("environment");
  if (!table) return variables;
  for (auto& [name, value] : parent.text_pairs("environment")) {
    if (!is_variable_name(name)) table->refuse(name, "is not a valid name of a variable");
    if (value.find_first_of(std::string_view("\n\0", 2)) != std::string::npos)
      table->refuse(name, "must be one line");
    variables.emplace_back(std::move(name), std::move(value));
  }
  return variables;
}

/// As pip and uv have them: a string, or several of one name.
Definitions read_config_settings(documents::TomlTable& parent) {
  Definitions settings;
  auto table = parent.table("config-settings");
  if (!table) return settings;
  for (const auto& [key, node] : table->node()) {
    const std::string name(key.str());
    const auto refuse = [&] {
      table->refuse(name, "expected a string, a number, true, false or an array of strings");
    };
    if (name.empty() || name.find_first_of("=\n") != std::string::npos)
      table->refuse(name, "is not a valid name of a setting");
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& element : *array) {
        if (!element.is_string()) refuse();
        settings.emplace_back(name, element.value_or(std::string()));
      }
    } else if (auto text = text_of(node)) {
      if (node.is_boolean()) text = node.value_or(false) ? "true" : "false";
      settings.emplace_back(name, std::move(*text));
    } else {
      refuse();
    }
  }
  return settings;
}

/// Words of compiler flags and lists: a shell, CMake and pip split them.
std::vector<std::string> read_words(documents::TomlTable& table, std::string_view key) {
  std::vector<std::string> words = table.texts(key);
  for (const std::string& word : words) {
    const bool sound = !word.empty() && word.find_first_of(" \t\n\"'`$\\;") == std::string::npos;
    if (!sound) {
      table.refuse(key, fmt::format("\"{}\" is not one plain word", word),
                   "give each argument as a string of its own, without quotes and blanks");
    }
  }
  return words;
}

std::optional<std::string> read_word(documents::TomlTable& table, std::string_view key,
                                     bool may_be_empty) {
  auto word = table.text(key);
  if (!word) return word;
  const bool sound = std::ranges::all_of(*word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.+").contains(c);
  });
  if (!sound || (word->empty() && !may_be_empty))
    table.refuse(key, fmt::format("\"{}\" is not a name of a processor", *word));
  return word;
}

std::optional<std::vector<std::string>> read_list(documents::TomlTable& table,
                                                  std::string_view key) {
  if (table.find(key) == nullptr) return std::nullopt;
  return read_words(table, key);
}

std::vector<std::string> read_architectures(documents::TomlTable& table) {
  static const std::vector<std::string> known = {"x86_64", "aarch64"};
  std::vector<std::string> names = table.texts("architectures");
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      table.refuse("architectures",
                   fmt::format("\"{}\" is not an architecture that Axle builds for", name),
                   text::suggest(name, known, "x86_64 and aarch64 are"));
    }
    if (!seen.insert(name).second)
      table.refuse("architectures", fmt::format("\"{}\" is duplicated", name));
  }
  return names;
}

void combine(Definitions& below, const Definitions& above) {
  std::erase_if(below, [&](const auto& one) {
    return std::ranges::any_of(above, [&](const auto& two) { return two.first == one.first; });
  });
  below.insert(below.end(), above.begin(), above.end());
}

/// Where each of them is said.
void read_places(documents::TomlTable& table, SettingsScope scope, RowSettings& settings) {
  const documents::TomlReading& reading = table.reading();
  for (const char* key : {"march", "tune", "cuda-architectures", "hip-architectures",
                          "sycl-targets", "architectures", "wheel"}) {
    if (const toml::node* node = table.node().get(key)) settings.places[key] = reading.place(*node);
  }
  for (const auto& [key, what] :
       {std::pair("environment", "environment."), std::pair("config-settings", "config-settings."),
        std::pair("cmake", "cmake.")}) {
    const toml::table* values = table.node()[key].as_table();
    // The `cmake` of [tool.axle] has its variables in a table of their own.
    if (scope == SettingsScope::project && values != nullptr && what == std::string_view("cmake."))
      values = (*values)["define"].as_table();
    if (values == nullptr) continue;
    for (const auto& [name, node] : *values)
      settings.places[std::string(what) + std::string(name.str())] = reading.place(node);
  }
  const toml::array* arguments = table.node()["compile-args"].as_array();
  for (std::size_t i = 0; arguments != nullptr && i < settings.compile_args.size(); ++i)
    settings.places["compile-args " + settings.compile_args[i]] = reading.place((*arguments)[i]);
}

template <class T>
void replace(T& below, const T& above, bool stated) {
  if (stated) below = above;
}

}  // namespace

Definitions read_definitions(documents::TomlTable& parent, std::string_view key) {
  Definitions definitions;
  auto table = parent.table(key);
  if (!table) return definitions;
  for (const auto& [name, node] : table->node()) {
    const std::string_view variable = name.str();
    if (!is_variable_name(variable)) table->refuse(variable, "is not a valid CMake variable name");
    if (std::ranges::find(reserved_definitions, variable) != std::end(reserved_definitions)) {
      table->refuse(variable, "is set by the builder",
                    "list compiler flags in compile-args, or put them into the project's "
                    "CMakeLists.txt");
    }
    auto value = cmake_value(node);
    if (!value || value->find('\n') != std::string::npos) {
      table->refuse(variable, "expected a string, a number, true, false or an array of strings");
    }
    definitions.emplace_back(std::string(variable), value.value_or(""));
  }
  return definitions;
}

RowSettings read_row_settings(documents::TomlTable& table, SettingsScope scope) {
  RowSettings settings;
  settings.flags = table.flag("flags");
  settings.march = read_word(table, "march", false);
  settings.tune = read_word(table, "tune", true);
  settings.compile_args = read_words(table, "compile-args");
  settings.cuda_architectures = read_list(table, "cuda-architectures");
  settings.hip_architectures = read_list(table, "hip-architectures");
  settings.sycl_targets = read_list(table, "sycl-targets");
  settings.environment = read_environment(table);
  settings.config_settings = read_config_settings(table);
  read_places(table, scope, settings);
  if (scope == SettingsScope::project) return settings;
  settings.define = read_definitions(table, "cmake");
  settings.optional = table.flag("optional");
  settings.architectures = read_architectures(table);
  settings.wheel = table.text("wheel").value_or("");
  return settings;
}

RowSettings overlaid(RowSettings below, const RowSettings& above) {
  replace(below.flags, above.flags, above.flags.has_value());
  replace(below.march, above.march, above.march.has_value());
  replace(below.tune, above.tune, above.tune.has_value());
  below.compile_args.insert(below.compile_args.end(), above.compile_args.begin(),
                            above.compile_args.end());
  replace(below.cuda_architectures, above.cuda_architectures, above.cuda_architectures.has_value());
  replace(below.hip_architectures, above.hip_architectures, above.hip_architectures.has_value());
  replace(below.sycl_targets, above.sycl_targets, above.sycl_targets.has_value());
  combine(below.define, above.define);
  combine(below.environment, above.environment);
  combine(below.config_settings, above.config_settings);
  replace(below.optional, above.optional, above.optional.has_value());
  replace(below.architectures, above.architectures, !above.architectures.empty());
  replace(below.wheel, above.wheel, !above.wheel.empty());
  for (const auto& [what, place] : above.places) below.places[what] = place;
  return below;
}

std::string RowSettings::place_of(std::string_view what, std::string_view otherwise) const {
  const auto found = places.find(what);
  return found == places.end() ? std::string(otherwise) : found->second;
}

}  // namespace axle::builder
