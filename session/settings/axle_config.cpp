#include "session/settings/axle_config.h"

#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/text/nearest.h"
#include "foundation/text/quote.h"
#include "session/settings/configuration_files.h"
#include "session/settings/layer.h"
#include "session/variables.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// Keys of [tool.axle] that `variant build` reads (builder/project.cpp).
constexpr std::array keys_of_builds = {"packages",
                                       "python-tag",
                                       "allow-libraries",
                                       "allow-instructions",
                                       "cmake",
                                       "toolchain",
                                       "ci",
                                       "axes",
                                       "product",
                                       "variant",
                                       "flags",
                                       "march",
                                       "tune",
                                       "compile-args",
                                       "cuda-architectures",
                                       "hip-architectures",
                                       "sycl-targets",
                                       "environment",
                                       "config-settings",
                                       "variant-markers"};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const wheel::PublisherKind& kind : wheel::publisher_kinds()) names.emplace_back(kind.name);
  return names;
}

wheel::Publisher read_publisher(documents::TomlTable& table) {
  wheel::Publisher publisher{table.required_text("kind")};
  if (table.reading().error()) return publisher;
  const wheel::PublisherKind* const kind = wheel::find_publisher_kind(publisher.kind);
  if (kind == nullptr) {
    table.refuse("kind", fmt::format("`{}` is not a kind of publisher", publisher.kind),
                 text::suggest(publisher.kind, kind_names(),
                               fmt::format("known are {}", text::joined_by_or(kind_names()))));
    return publisher;
  }
  for (const wheel::PublisherKey& key : kind->keys) {
    if (auto value = table.text(key.name)) publisher.claims[std::string(key.name)] = *value;
  }
  if (publisher.claims.empty()) {
    table.refuse("kind", "it says nothing of the publisher but its kind",
                 fmt::format("add {}", kind->keys.front().name));
  }
  table.finish();
  return publisher;
}

void read_publishers(documents::TomlTable& table, AxleConfig& config) {
  for (const auto& [key, node] : table.node()) {
    const std::string written(key.str());
    auto entry = table.table(written);
    if (!entry) return;
    const std::string name = wheel::normalize_name(written);
    if (!wheel::is_valid_name(written)) {
      return table.refuse(written, "it is not a valid name of a package");
    }
    if (config.publishers.contains(name))
      return table.refuse(written, "the package is named twice");
    config.publishers[name] = {read_publisher(*entry), table.reading().place(node)};
  }
}

std::optional<Stated> stated(documents::TomlTable& table, std::string_view key) {
  auto value = table.text(key);
  if (!value) return std::nullopt;
  return Stated{std::move(*value), table.reading().place(*table.find(key))};
}

/// A path, from the folder of the file that says it, or from the home folder.
std::optional<Stated> stated_path(documents::TomlTable& table, std::string_view key) {
  auto path = stated(table, key);
  if (path) {
    const fs::path folder = fs::path(table.reading().where()).parent_path();
    path->value = (folder / home_expanded(path->value)).lexically_normal().string();
  }
  return path;
}

AxleConfig read_config(documents::TomlTable& table) {
  AxleConfig config;
  config.attestations = stated(table, "attestations");
  config.trusted_root = stated_path(table, "trusted-root");
  if (auto publishers = table.table("publishers")) read_publishers(*publishers, config);
  return config;
}

/// A list of texts with their places.
std::vector<Stated> stated_list(documents::TomlTable& table, std::string_view key) {
  std::vector<Stated> list;
  for (std::string& value : table.texts(key)) {
    const toml::node& node = (*table.find(key)->as_array())[list.size()];
    list.push_back({std::move(value), table.reading().place(node)});
  }
  return list;
}

ProjectEnvironments read_environments(documents::TomlTable& axle) {
  ProjectEnvironments read;
  read.classes = read_machine_classes(axle);
  if (const auto kind = axle.text("environments"); kind && *kind != "by-class") {
    axle.refuse("environments", fmt::format("{} is not known", text::quote(*kind)),
                "\"by-class\": .venv-CLASS; without it there is one environment, .venv");
  } else {
    read.by_class = kind.has_value();
  }
  if (const auto what = axle.text("minimize"); what && *what != "builds") {
    axle.refuse("minimize", fmt::format("{} is not known", text::quote(*what)),
                "\"builds\": as few as serve all classes; without it each gets its best");
  } else {
    read.fewest_builds = what.has_value();
  }
  read.budget = read_budget(axle);
  if (axle.find("default-groups") != nullptr)
    read.default_groups = stated_list(axle, "default-groups");
  read.indexes = stated_list(axle, "indexes");
  for (Stated& stated : read.indexes) {
    const fs::path folder = fs::path(axle.reading().where()).parent_path();
    const ConfiguredIndex index = parse_index(stated.value, stated.origin);
    if (index.url.empty()) axle.refuse("indexes", "an index is empty", "name its URL or folder");
    if (!index.url.contains("://")) {
      const std::string place = (folder / index.url).lexically_normal().string();
      stated.value = index.name.empty() ? place : index.name + "=" + place;
    }
  }
  return read;
}

/// nullopt if the file does not exist.
template <class Parse>
Outcome<std::optional<AxleConfig>> read_file(const std::string& path, Parse parse) {
  auto text = read_configuration(path);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  auto config = parse(**text, path);
  if (!config) return misconfigured(config.error());
  return std::move(*config);
}

/// "" if there is none.
Outcome<std::string> find_axle_project() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return std::string();
  for (fs::path folder = here;; folder = folder.parent_path()) {
    std::string path = (folder / "pyproject.toml").string();
    const auto text = read_configuration(path);
    if (!text) return std::unexpected(text.error());
    // Nearly no file has the table, and most need not be parsed to see that.
    if (*text && (*text)->contains("axle")) {
      const auto document = documents::parse_toml(**text, path);
      if (!document) return misconfigured(document.error());
      const toml::table& table = *document;
      if (table["tool"]["axle"]) return path;
    }
    if (folder == folder.parent_path()) return std::string();
  }
}

}  // namespace

Result<AxleConfig> parse_project_config(std::string_view text, const std::string& where) {
  auto document = documents::parse_toml(text, where);
  if (!document) return std::unexpected(document.error());
  documents::TomlReading reading(where);
  documents::TomlTable root(*document, "", reading);
  AxleConfig config;
  if (auto tool = root.table("tool")) {
    if (auto axle = tool->table("axle")) {
      for (const char* key : keys_of_builds) (void)axle->find(key);
      config = read_config(*axle);
      config.environments = read_environments(*axle);
      if (axle->find("allowed-signers") != nullptr) {
        axle->refuse("allowed-signers", "a project does not say whom its user trusts",
                     "say it in axle/config.toml, or with --allowed-signers");
      }
      axle->finish();
    }
  }
  if (reading.error()) return std::unexpected(*reading.error());
  return config;
}

Result<AxleConfig> parse_user_config(std::string_view text, const std::string& where) {
  auto document = documents::parse_toml(text, where);
  if (!document) return std::unexpected(document.error());
  documents::TomlReading reading(where);
  documents::TomlTable root(*document, "", reading);
  AxleConfig config = read_config(root);
  if (auto defaults = root.table("defaults")) config.defaults = read_defaults(*defaults);
  config.allowed_signers = stated_path(root, "allowed-signers");
  root.finish();
  if (reading.error()) return std::unexpected(*reading.error());
  return config;
}

Outcome<AxleConfigs> read_axle_configs() {
  auto project = read_project_config();
  if (!project) return std::unexpected(project.error());
  auto user = read_user_config();
  if (!user) return std::unexpected(user.error());
  return AxleConfigs{std::move(*project), std::move(*user)};
}

Outcome<AxleConfig> read_project_config() {
  const auto project = find_axle_project();
  if (!project) return std::unexpected(project.error());
  if (project->empty()) return AxleConfig();
  auto config = read_file(*project, parse_project_config);
  if (!config) return std::unexpected(config.error());
  return std::move(*config).value_or(AxleConfig());
}

Outcome<AxleConfig> read_user_config() {
  const std::string home = config_home();
  if (home.empty()) return AxleConfig();
  auto config = read_file(home + "/axle/config.toml", parse_user_config);
  if (!config) return std::unexpected(config.error());
  return std::move(*config).value_or(AxleConfig());
}

}  // namespace axle::session
