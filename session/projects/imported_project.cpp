#include "session/projects/imported_project.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "session/input_file.h"
#include "session/projects/locked_versions.h"
#include "session/requests/package_place.h"
#include "session/requests/requirements_file.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// Adds "==1.2" to the pins; false if it is not that.
bool take_pin(const wheel::Requirement& requirement, ImportedProject& into) {
  if (requirement.specifiers.specifiers.size() != 1) return false;
  const wheel::Specifier& one = requirement.specifiers.specifiers.front();
  if (one.comparison != wheel::Comparison::equal || one.wildcard) return false;
  return add_pin(requirement.name, wheel::render_version(one.version), into.pins);
}

void take_line(const FileRequirement& line, ImportedProject& into) {
  constexpr auto by_hand = "add it by hand";
  if (line.editable || parse_package_place(line.text)) {
    return into.warn(
        fmt::format("{}: `{}` is not taken: a project names its packages", line.origin, line.text),
        "add it by hand as `NAME @ URL`, or in [tool.uv.sources]");
  }
  const auto requirement = wheel::parse_requirement(line.text);
  if (!requirement)
    return into.warn(fmt::format("{}: {}", line.origin, requirement.error().message), by_hand);
  into.dependencies.push_back(wheel::render_requirement(*requirement));
  (void)take_pin(*requirement, into);
}

void take_constraint(const FileRequirement& line, ImportedProject& into) {
  const auto requirement = wheel::parse_requirement(line.text);
  if (requirement && take_pin(*requirement, into)) return;
  into.warn(fmt::format("{}: the constraint `{}` is not taken", line.origin, line.text),
            "add it to [tool.uv] constraint-dependencies");
}

Result<ImportedProject> import_requirements(const std::string& path, const RemoteText& remote) {
  RequirementsFile file;
  if (auto read = read_requirements_file(path, false, remote, file); !read)
    return std::unexpected(std::move(read).error());
  ImportedProject imported;
  for (const FileRequirement& line : file.requirements) take_line(line, imported);
  for (const FileRequirement& line : file.constraints) take_constraint(line, imported);
  for (const auto& row : option_rows()) {
    if (!file.read.options.has(row.id)) continue;
    const bool index =
        row.id == Opt::index_url || row.id == Opt::extra_index_url || row.id == Opt::find_links;
    imported.warn(fmt::format("{}: {} is not taken", path, option_name(row.id)),
                  index ? "add the index as [[tool.uv.index]], or to [tool.axle] indexes"
                        : "set it in [tool.uv]");
  }
  return imported;
}

}  // namespace

ImportKind import_kind(std::string_view path) {
  const std::string name = fs::path(path).filename().string();
  if (name == "uv.lock") return ImportKind::uv_lock;
  if (name == "poetry.lock") return ImportKind::poetry_lock;
  if (name == "pyproject.toml") return ImportKind::poetry_project;
  if (name.starts_with("pylock.") && name.ends_with(".toml")) return ImportKind::pylock;
  return ImportKind::requirements;
}

Result<ImportedProject> read_import(const std::string& path, const RemoteText& remote) {
  const ImportKind kind = import_kind(path);
  if (kind == ImportKind::requirements) return import_requirements(path, remote);
  const auto text = read_input(path);
  if (!text) return std::unexpected(text.error());
  switch (kind) {
    case ImportKind::uv_lock:
      return parse_uv_lock(*text, path);
    case ImportKind::pylock:
      return parse_pylock(*text, path);
    case ImportKind::poetry_project:
      return parse_poetry_project(*text, path);
    default:
      break;
  }
  auto locked = parse_poetry_lock(*text, path);
  const fs::path beside = fs::path(path).parent_path() / "pyproject.toml";
  std::error_code absent;
  if (!locked || !fs::exists(beside, absent)) return locked;
  const auto described = read_input(beside.string());
  if (!described) return std::unexpected(described.error());
  // One of PEP 621, which poetry reads too, is the project's own already.
  if (!described->contains("poetry")) return locked;
  auto imported = parse_poetry_project(*described, beside.string());
  if (!imported) return imported;
  imported->pins = std::move(locked->pins);
  imported->warn_all(std::move(locked->remarks));
  return imported;
}

}  // namespace axle::session
