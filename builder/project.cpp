#include "builder/project.h"

#include <algorithm>

#include <fmt/format.h>

#include "builder/build_back_end.h"
#include "builder/project_files.h"
#include "builder/table/matrix.h"
#include "builder/variant_table.h"
#include "detect/capability.h"
#include "foundation/documents/toml_reader.h"
#include "foundation/text/quote.h"
#include "wheel/requirement.h"

namespace axle::builder {

namespace {

bool is_cmake_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
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

std::map<std::string, StatedCompilers> read_toolchains(documents::TomlTable& axle) {
  std::map<std::string, StatedCompilers> all;
  auto tables = axle.table("toolchain");
  if (!tables) return all;
  for (const char* architecture : {"x86_64", "aarch64"}) {
    auto table = tables->table(architecture);
    if (!table) continue;
    StatedCompilers compilers{table->required_text("cc"), table->text("cxx").value_or(""),
                              table->reading().place(table->node())};
    table->finish();
    all.emplace(architecture, std::move(compilers));
  }
  tables->finish();
  return all;
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
  project.toolchains = read_toolchains(axle);
  project.ci = read_ci_settings(axle);
  // Of installing (session/settings/axle_config.cpp).
  for (const char* key : {"attestations", "trusted-root", "publishers", "machines", "environments",
                          "default-groups", "indexes"})
    (void)axle.find(key);
}

/// "" if the back end finds it elsewhere (setup.cfg).
std::string read_project_name(documents::TomlTable& project) {
  const std::string name = project.text("name").value_or("");
  if (!name.empty() && !wheel::is_valid_name(name))
    project.refuse("name", fmt::format("{} is not a valid project name", text::quote(name)));
  return name;
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
  MatrixTable matrix;
  if (auto tool = root.table("tool")) {
    if (auto axle = tool->table("axle")) {
      variant_markers = axle->flag("variant-markers").value_or(false);
      read_axle(*axle, project);
      matrix = read_matrix_table(*axle);
      axle->finish();
    }
  }
  project.back_end = read_back_end(root);
  if (project.is_of_back_end()) {
    if (auto table = root.table("project")) project.metadata.name = read_project_name(*table);
  } else if (auto table = root.table("project")) {
    project.metadata = read_project_metadata(*table, variant_markers);
  } else {
    root.refuse("project", "the table is missing");
  }
  project.variants = read_variants(root, matrix.products, report);
  if (reading.error()) return std::unexpected(*reading.error());
  project.matrix = make_matrix(matrix, project.variants, reading);
  if (reading.error()) return std::unexpected(*reading.error());
  return project;
}

Result<Project> read_project(const std::string& file, Report& report) {
  const auto text = read_file(file, largest_text);
  if (text) return parse_project(*text, file, report);
  Error missing = text.error();
  if (missing.kind == ErrorKind::not_found) missing.hint = "a project has a pyproject.toml";
  return std::unexpected(std::move(missing));
}

}  // namespace axle::builder
