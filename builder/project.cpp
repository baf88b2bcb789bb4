#include "builder/project.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "builder/build_back_end.h"
#include "builder/variant_table.h"
#include "detect/capability.h"
#include "foundation/documents/toml_reader.h"
#include "wheel/wheel_name.h"

namespace axle::builder {

namespace {

bool is_cmake_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Variables that the builder sets itself; a project that sets them would not get what it sets.
constexpr std::string_view reserved_definitions[] = {"CMAKE_C_FLAGS", "CMAKE_CXX_FLAGS",
                                                     "CMAKE_BUILD_TYPE", "CMAKE_INSTALL_PREFIX",
                                                     "CMAKE_HOME_DIRECTORY"};

std::optional<std::string> cmake_value(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "ON" : "OFF";
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  const toml::array* array = node.as_array();
  if (array == nullptr) return std::nullopt;
  std::string list;
  for (const toml::node& element : *array) {
    if (!element.is_string()) return std::nullopt;
    list += (list.empty() ? "" : ";") + element.as_string()->get();
  }
  return list;
}

Definitions read_definitions(documents::TomlTable& parent, std::string_view key) {
  Definitions definitions;
  auto table = parent.table(key);
  if (!table) return definitions;
  for (const auto& [name, node] : table->node()) {
    const std::string_view variable = name.str();
    if (!is_cmake_name(variable)) table->refuse(variable, "is not a valid CMake variable name");
    if (std::ranges::find(reserved_definitions, variable) != std::end(reserved_definitions)) {
      table->refuse(variable, "is set by the builder",
                    "put compiler flags into the project's CMakeLists.txt");
    }
    auto value = cmake_value(node);
    if (!value || value->find('\n') != std::string::npos) {
      table->refuse(variable, "expected a string, a number, true, false or an array of strings");
    }
    definitions.emplace_back(std::string(variable), value.value_or(""));
  }
  return definitions;
}

std::optional<CMakeSettings> read_cmake(documents::TomlTable& axle) {
  auto table = axle.table("cmake");
  if (!table) return std::nullopt;
  CMakeSettings settings;
  settings.source = table->text("source").value_or(".");
  settings.build_type = table->text("build-type").value_or("Release");
  if (!is_cmake_name(settings.build_type))
    table->refuse("build-type", "is not a valid CMake build type");
  settings.define = read_definitions(*table, "define");
  table->finish();
  return settings;
}

std::vector<MatrixRow> read_matrix(documents::TomlTable& axle) {
  std::vector<MatrixRow> rows;
  std::set<std::string> labels;
  for (documents::TomlTable& table : axle.tables("variant")) {
    MatrixRow row;
    row.label = table.text("label").value_or("");
    row.flags = table.flag("flags").value_or(true);
    row.define = read_definitions(table, "cmake");
    row.place = table.reading().place(table.node());
    if (!row.label.empty() && !wheel::is_valid_label(row.label)) {
      table.refuse("label", fmt::format("\"{}\" is not a valid variant label", row.label),
                   "use lower-case letters, digits, \"_\" and \".\"");
    }
    if (!labels.insert(row.label).second) {
      table.refuse("label", fmt::format("\"{}\" is duplicated in the matrix", row.label));
    }
    table.finish();
    rows.push_back(std::move(row));
  }
  return rows;
}

bool is_python_tag(std::string_view tag) {
  return tag.size() >= 3 && tag.starts_with("py") && std::ranges::all_of(tag.substr(2), [](char c) {
           return (c >= '0' && c <= '9') || c == '.' || c == 'p' || c == 'y';
         });
}

void read_axle(documents::TomlTable& axle, Project& project) {
  project.packages = axle.texts("packages");
  project.python_tag = axle.text("python-tag").value_or("py3");
  if (!is_python_tag(project.python_tag)) {
    axle.refuse("python-tag",
                fmt::format("\"{}\" is not a valid tag such as py3", project.python_tag),
                "tags of extension modules are derived from their file names");
  }
  project.allowed_libraries = axle.texts("allow-libraries");
  project.allowed_instructions = axle.texts("allow-instructions");
  for (const std::string& name : project.allowed_instructions) {
    const bool known = std::ranges::any_of(
        detect::capabilities(), [&](const auto& row) { return detect::plain_name(row) == name; });
    if (known) continue;
    axle.refuse("allow-instructions", fmt::format("\"{}\" is not a known CPU feature", name),
                "use the names of /proc/cpuinfo, such as avx512f");
  }
  project.cmake = read_cmake(axle);
  project.matrix = read_matrix(axle);
  // Of installing (session/settings/axle_config.cpp).
  for (const char* key : {"attestations", "trusted-root", "publishers"}) (void)axle.find(key);
  axle.finish();
}

// Without a matrix every label of [variant] is built; a project without labels has one wheel.
void complete_matrix(Project& project, const std::string& where) {
  if (project.matrix.empty() && project.variants) {
    for (const auto& [label, properties] : project.variants->variants) {
      project.matrix.push_back({label, true, {}, where});
    }
  }
  if (project.matrix.empty()) project.matrix.push_back({"", true, {}, where});
}

void check_labels(Project& project, documents::TomlReading& reading) {
  for (const MatrixRow& row : project.matrix) {
    if (row.label.empty()) continue;
    if (!project.variants) {
      reading.refuse(
          Error{ErrorKind::malformed,
                fmt::format("{}: the label \"{}\" needs a [variant] table", row.place, row.label),
                "[variant] defines the providers and properties of a label"});
      return;
    }
    if (row.label == wheel::null_label) project.variants->variants[row.label];
    if (!project.variants->variants.contains(row.label)) {
      reading.refuse(
          Error{ErrorKind::malformed,
                fmt::format("{}: [variant.variants] has no label \"{}\"", row.place, row.label),
                fmt::format("add [variant.variants.{}] with its properties", row.label)});
    }
  }
}

}  // namespace

const wheel::VariantProperties& Project::properties_of(const MatrixRow& row) const {
  static const wheel::VariantProperties none;
  if (!variants) return none;
  const auto found = variants->variants.find(row.label);
  return found == variants->variants.end() ? none : found->second;
}

Result<Project> parse_project(std::string_view text, const std::string& where, Report& report) {
  auto document = documents::parse_toml(text, where);
  if (!document) return std::unexpected(document.error());
  documents::TomlReading reading(where);
  documents::TomlTable root(*document, "", reading);
  Project project;
  project.place = where;
  bool variant_markers = false;
  if (auto tool = root.table("tool")) {
    if (auto axle = tool->table("axle")) {
      variant_markers = axle->flag("variant-markers").value_or(false);
      read_axle(*axle, project);
    }
  }
  if (auto table = root.table("project")) {
    project.metadata = read_project_metadata(*table, variant_markers);
  } else {
    root.refuse("project", "the table is missing");
  }
  refuse_other_back_end(root, project);
  if (auto table = root.table("variant")) project.variants = read_variants(*table, report);
  if (reading.error()) return std::unexpected(*reading.error());
  complete_matrix(project, where);
  check_labels(project, reading);
  if (reading.error()) return std::unexpected(*reading.error());
  return project;
}

}  // namespace axle::builder
