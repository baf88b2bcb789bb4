#include "builder/project_metadata.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "wheel/marker.h"
#include "wheel/requirement.h"
#include "wheel/specifier.h"

namespace axle::builder {

namespace {

bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

// A header of METADATA is one line.
std::string one_line(documents::TomlTable& table, std::string_view key) {
  std::string value = table.text(key).value_or("");
  if (!is_one_line(value)) table.refuse(key, "must be one line without control characters");
  return value;
}

std::vector<std::string> lines(documents::TomlTable& table, std::string_view key) {
  std::vector<std::string> values = table.texts(key);
  if (!std::ranges::all_of(values, is_one_line)) table.refuse(key, "must be lines of plain text");
  return values;
}

constexpr std::string_view variant_variables[] = {"variant_label", "variant_properties",
                                                  "variant_features", "variant_namespaces"};

// A requirement in the form of METADATA; `extra` is the extra that it belongs to, or empty.
std::string read_requirement(documents::TomlTable& table, std::string_view key,
                             const std::string& text, std::string_view extra,
                             bool variant_markers) {
  auto requirement = wheel::parse_requirement(text);
  if (!requirement) {
    table.refuse(key, requirement.error().message, requirement.error().hint);
    return {};
  }
  for (const std::string_view variable : variant_variables) {
    if (variant_markers || !requirement->marker || !requirement->marker->mentions(variable)) {
      continue;
    }
    table.refuse(key, fmt::format("\"{}\" uses the marker {}", text, variable),
                 "no released installer can parse it; set tool.axle.variant-markers = true to "
                 "write it anyway",
                 ErrorKind::unsupported);
    return {};
  }
  if (!extra.empty()) {
    const std::string own = requirement->marker ? requirement->marker->render() : std::string();
    const std::string wanted = fmt::format("extra == \"{}\"", extra);
    auto marker =
        wheel::parse_marker(own.empty() ? wanted : fmt::format("({}) and {}", own, wanted));
    if (!marker) {
      table.refuse(key, marker.error().message, marker.error().hint);
      return {};
    }
    requirement->marker = std::move(*marker);
  }
  return wheel::render_requirement(*requirement);
}

void read_requirements(documents::TomlTable& project, bool variant_markers,
                       ProjectMetadata& metadata) {
  for (const std::string& text : project.texts("dependencies")) {
    metadata.requires_dist.push_back(
        read_requirement(project, "dependencies", text, {}, variant_markers));
  }
  auto extras = project.table("optional-dependencies");
  if (!extras) return;
  for (const auto& [key, node] : extras->node()) {
    const std::string extra = wheel::normalize_name(key.str());
    if (!wheel::is_valid_name(key.str())) extras->refuse(key.str(), "is not a valid extra name");
    if (std::ranges::count(metadata.extras, extra) != 0) {
      extras->refuse(key.str(), fmt::format("duplicate extra \"{}\"", extra));
    }
    metadata.extras.push_back(extra);
    for (const std::string& text : extras->texts(key.str())) {
      metadata.requires_dist.push_back(
          read_requirement(*extras, key.str(), text, extra, variant_markers));
    }
  }
}

std::string type_of_readme(std::string_view file) {
  std::string lower(file);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower.ends_with(".md")) return "text/markdown";
  if (lower.ends_with(".rst")) return "text/x-rst";
  return "text/plain";
}

void read_readme(documents::TomlTable& project, ProjectMetadata& metadata) {
  const toml::node* node = project.find("readme");
  if (node == nullptr) return;
  if (node->is_string()) {
    metadata.readme_file = node->as_string()->get();
    metadata.readme_type = type_of_readme(metadata.readme_file);
    return;
  }
  auto table = project.table("readme");
  if (!table) return;
  metadata.readme_file = table->text("file").value_or("");
  metadata.readme_text = table->text("text").value_or("");
  if (metadata.readme_file.empty() == metadata.readme_text.empty()) {
    project.refuse("readme", "needs exactly one of file and text");
  }
  metadata.readme_type = one_line(*table, "content-type");
  if (metadata.readme_type.empty()) metadata.readme_type = type_of_readme(metadata.readme_file);
  table->finish();
}

void read_license(documents::TomlTable& project, ProjectMetadata& metadata) {
  const toml::node* node = project.find("license");
  if (node != nullptr && node->is_string()) {
    metadata.license_expression = one_line(project, "license");
  } else if (node != nullptr) {
    if (auto table = project.table("license")) {
      metadata.license_text = table->text("text").value_or("");
      metadata.license_file = table->text("file").value_or("");
      if (metadata.license_text.empty() == metadata.license_file.empty()) {
        project.refuse("license", "needs exactly one of file and text",
                       "or use an SPDX expression: license = \"MIT\"");
      }
      table->finish();
    }
  }
  metadata.license_files_stated = project.find("license-files") != nullptr;
  metadata.license_files = project.texts("license-files");
}

// authors and maintainers: names in one field, addresses in another (core metadata, Author-email).
void read_people(documents::TomlTable& project, std::string_view key, std::string_view field,
                 ProjectMetadata& metadata) {
  std::string names;
  std::string addresses;
  const auto append = [](std::string& list, const std::string& item) {
    if (!item.empty()) list += (list.empty() ? "" : ", ") + item;
  };
  for (documents::TomlTable& person : project.tables(key)) {
    const std::string name = one_line(person, "name");
    const std::string email = one_line(person, "email");
    person.finish();
    if (email.empty()) {
      append(names, name);
    } else {
      append(addresses, name.empty() ? email : fmt::format("{} <{}>", name, email));
    }
  }
  if (!names.empty()) metadata.people.emplace_back(field, names);
  if (!addresses.empty()) metadata.people.emplace_back(fmt::format("{}-email", field), addresses);
}

// entry_points.txt is an INI file: names and groups must not break its lines.
void read_entry_points(documents::TomlTable& table, std::string_view key, std::string_view group,
                       ProjectMetadata& metadata) {
  EntryPointGroup entries{std::string(group), table.text_pairs(key)};
  for (const auto& [name, object] : entries.entries) {
    const bool sound = is_one_line(name) && is_one_line(object) && !name.empty() &&
                       !object.empty() && name.find_first_of("=[") == std::string::npos;
    if (!sound) table.refuse(key, fmt::format("\"{}\" is not a valid entry point", name));
  }
  if (!entries.entries.empty()) metadata.entry_points.push_back(std::move(entries));
}

void read_all_entry_points(documents::TomlTable& project, ProjectMetadata& metadata) {
  read_entry_points(project, "scripts", "console_scripts", metadata);
  read_entry_points(project, "gui-scripts", "gui_scripts", metadata);
  auto groups = project.table("entry-points");
  if (!groups) return;
  for (const auto& [key, node] : groups->node()) {
    if (!is_one_line(key.str()) || key.str().find(']') != std::string_view::npos) {
      groups->refuse(key.str(), "is not a valid group name");
    }
    read_entry_points(*groups, key.str(), key.str(), metadata);
  }
}

void read_name_and_version(documents::TomlTable& project, ProjectMetadata& metadata) {
  metadata.name = project.required_text("name");
  if (!metadata.name.empty() && !wheel::is_valid_name(metadata.name)) {
    project.refuse("name", fmt::format("\"{}\" is not a valid project name", metadata.name));
  }
  if (const auto dynamic = project.texts("dynamic"); !dynamic.empty()) {
    project.refuse("dynamic",
                   fmt::format("\"{}\" is to be set by a build back end", dynamic.front()),
                   "write the value into [project]", ErrorKind::unsupported);
  }
  const auto version = wheel::parse_version(project.required_text("version"));
  if (version) {
    metadata.version = *version;
  } else {
    project.refuse("version", version.error().message, version.error().hint);
  }
}

}  // namespace

ProjectMetadata read_project_metadata(documents::TomlTable& project, bool variant_markers) {
  ProjectMetadata metadata;
  read_name_and_version(project, metadata);
  metadata.summary = one_line(project, "description");
  metadata.requires_python = one_line(project, "requires-python");
  if (const auto specifiers = wheel::parse_specifiers(metadata.requires_python); specifiers) {
    metadata.requires_python = wheel::render_specifiers(*specifiers);
  } else {
    project.refuse("requires-python", specifiers.error().message, specifiers.error().hint);
  }
  read_requirements(project, variant_markers, metadata);
  read_readme(project, metadata);
  read_license(project, metadata);
  metadata.keywords = lines(project, "keywords");
  metadata.classifiers = lines(project, "classifiers");
  metadata.urls = project.text_pairs("urls");
  for (const auto& [label, url] : metadata.urls) {
    if (!is_one_line(label) || !is_one_line(url)) project.refuse("urls", "must be plain lines");
  }
  read_people(project, "authors", "Author", metadata);
  read_people(project, "maintainers", "Maintainer", metadata);
  read_all_entry_points(project, metadata);
  project.finish();
  return metadata;
}

}  // namespace axle::builder
