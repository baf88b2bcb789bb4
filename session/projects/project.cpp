#include "session/projects/project.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/text/nearest.h"
#include "foundation/text/quote.h"
#include "plan/lock/lock.h"
#include "session/projects/class_choice.h"
#include "session/requests/dependency_groups.h"
#include "session/requests/project_requirements.h"
#include "session/settings/axle_config.h"
#include "session/settings/configuration_files.h"
#include "session/variables.h"
#include "wheel/requirement.h"
#include "wheel/specifier.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// Reads one file into a Project.
class ProjectReader {
 public:
  ProjectReader(Project& project, const ProjectRequirements& requirements)
      : project_(project), requirements_(requirements), reading_(project.file) {}

  Result<void> read() {
    read_table();
    if (auto done = read_requirements(); !done) return done;
    if (auto done = read_groups(); !done) return done;
    auto config = parse_project_config(project_.text, project_.file);
    if (!config) return std::unexpected(std::move(config).error());
    take_classes(config->environments);
    read_default_groups(config->environments);
    note_unfollowed();
    if (reading_.error()) return std::unexpected(*reading_.error());
    return {};
  }

 private:
  [[nodiscard]] auto uv() const { return requirements_.document()["tool"]["uv"]; }

  void read_table() {
    documents::TomlTable table(requirements_.table(), "project", reading_);
    const std::string name = table.required_text("name");
    if (!name.empty() && !wheel::is_valid_name(name))
      table.refuse("name", fmt::format("{} is not a valid name", text::quote(name)));
    if (name.empty() && table.find("name") != nullptr) table.refuse("name", "it is empty");
    project_.name = wheel::normalize_name(name);
    const std::vector<std::string> dynamic = table.texts("dynamic");
    const auto is_dynamic = [&](std::string_view field) {
      return std::ranges::find(dynamic, field) != dynamic.end();
    };
    if (!table.text("version") && !is_dynamic("version"))
      table.refuse("version", "the key is missing", "write, for example, version = \"0.1.0\"");
    if (is_dynamic("requires-python"))
      table.refuse("dynamic", "requires-python is dynamic: only a build finds out what it is",
                   "write it in [project]");
    project_.requires_python = table.text("requires-python").value_or("");
    auto allowed = wheel::parse_specifiers(project_.requires_python);
    if (!allowed) return table.refuse("requires-python", allowed.error().message);
    requires_python_ = *std::move(allowed);
    const bool built = requirements_.document().contains("build-system");
    project_.is_package = uv()["package"].value_or(built);
  }

  Result<void> take(std::vector<FileRequirement> read, std::vector<FileRequirement>& into) const {
    for (FileRequirement& one : read) {
      const auto requirement = wheel::parse_requirement(space_before_marker(one.text));
      if (!requirement) return std::unexpected(within(one.origin, requirement.error()));
      one.folder = project_.folder;
      into.push_back(std::move(one));
    }
    return {};
  }

  Result<void> read_requirements() {
    std::vector<FileRequirement> own;
    if (auto read = requirements_.take({}, own); !read) return read;
    if (auto good = take(std::move(own), project_.dependencies); !good) return good;
    for (const std::string& extra : requirements_.extras()) {
      std::vector<FileRequirement> of_extra;
      if (auto read = requirements_.take_extra(extra, of_extra); !read) return read;
      if (auto good = take(std::move(of_extra), project_.extras[extra]); !good) return good;
    }
    return {};
  }

  Result<void> read_groups() {
    auto groups = DependencyGroups::parse(project_.text, project_.file);
    if (!groups) return std::unexpected(std::move(groups).error());
    for (const std::string& name : groups->normalized_names()) {
      auto of_group = groups->all_of(name);
      if (!of_group) return std::unexpected(std::move(of_group).error());
      if (auto good = take(*std::move(of_group), project_.groups[name]); !good) return good;
    }
    // A group `dev` is refused because of them; without it nobody would see them.
    const toml::node* uncounted = uv()["dev-dependencies"].node();
    if (uncounted != nullptr && !project_.groups.contains("dev"))
      reading_.refuse(*uncounted, "tool.uv.dev-dependencies", "only uv reads it",
                      "move them to `dev` in [dependency-groups]");
    return {};
  }

  void take_classes(ProjectEnvironments& stated) {
    project_.environment_by_class = stated.by_class;
    project_.fewest_builds = stated.fewest_builds;
    project_.budget = stated.budget;
    project_.classes = std::move(stated.classes);
    for (const MachineClass& one : project_.classes) {
      if (one.python.empty() || newest_release(one.python, requires_python_)) continue;
      reading_.refuse({ErrorKind::malformed,
                       fmt::format("{}: the class {} is for Python {}, and requires-python is {}",
                                   one.origin, one.name, one.python, project_.requires_python),
                       "change one of them"});
    }
    if (project_.classes.empty())
      project_.classes.push_back({.name = "default", .machine = "this", .origin = project_.file});
  }

  void take_default_group(const std::string& name, const std::string& origin) {
    std::string normalized = wheel::normalize_name(name);
    if (project_.groups.contains(normalized)) {
      if (std::ranges::find(project_.default_groups, normalized) == project_.default_groups.end())
        project_.default_groups.push_back(std::move(normalized));
      return;
    }
    std::vector<std::string> known;
    for (const auto& [group, requirements] : project_.groups) known.push_back(group);
    reading_.refuse({ErrorKind::malformed,
                     fmt::format("{}: default-groups: the project has no dependency group {}",
                                 origin, text::quote(name)),
                     text::suggest(name, known, "groups are in [dependency-groups]")});
  }

  void read_default_groups(const ProjectEnvironments& stated) {
    const toml::node* of_uv = uv()["default-groups"].node();
    if (stated.default_groups) {
      for (const Stated& group : *stated.default_groups)
        take_default_group(group.value, group.origin);
    } else if (of_uv == nullptr) {
      if (project_.groups.contains("dev")) project_.default_groups.emplace_back("dev");
    } else if (of_uv->value<std::string>() == "all") {
      for (const auto& [group, requirements] : project_.groups)
        project_.default_groups.push_back(group);
    } else if (const toml::array* list = of_uv->as_array()) {
      for (const toml::node& one : *list)
        take_default_group(one.value_or(std::string()), reading_.place(one));
    } else {
      reading_.refuse(*of_uv, "tool.uv.default-groups", "expected a list of groups, or \"all\"");
    }
  }

  void note(std::string_view key, std::string_view why, std::string hint) {
    const toml::node* node = uv()[key].node();
    if (node == nullptr) return;
    project_.unfollowed.push_back(
        {Severity::warning,
         fmt::format("{}: tool.uv.{} does not count: {}", reading_.place(*node), key, why),
         std::move(hint), project_.file});
  }

  void note_unfollowed() {
    const std::string classes = "name machines in [tool.axle.machines]";
    note("conflicts", "all extras and groups are locked together",
         classes + " for what depends on the machine, in place of extras");
    note("environments", "classes of machines say what is locked for", classes);
    note("required-environments", "classes of machines say what is locked for", classes);
    note("minimum-libc-version", "the machines of the classes say it", classes);
    if (uv()["add-bounds"].value<std::string>() != "lower")
      note("add-bounds", "`variant add` writes a lower bound", "add it with a version: demo==1.0");
    note("workspace", "each project is locked by itself", "run the command in each of them");
  }

  Project& project_;
  const ProjectRequirements& requirements_;
  documents::TomlReading reading_;
  wheel::SpecifierSet requires_python_;
};

}  // namespace

std::string Project::lock_path() const { return (fs::path(folder) / plan::lock_filename).string(); }

std::string Project::environment_path(std::string_view class_name) const {
  if (!stated_environment.empty())
    return (fs::path(folder) / stated_environment).lexically_normal().string();
  const std::string last =
      environment_by_class ? fmt::format(".venv-{}", class_name) : std::string(".venv");
  return (fs::path(folder) / last).string();
}

const MachineClass* Project::find_class(std::string_view class_name) const {
  const auto found = std::ranges::find(classes, class_name, &MachineClass::name);
  return found == classes.end() ? nullptr : &*found;
}

Result<Project> parse_project(std::string text, const std::string& file) {
  Project project;
  project.file = file;
  project.folder = fs::path(file).parent_path().string();
  project.text = std::move(text);
  const auto requirements = ProjectRequirements::parse(project.text, file);
  if (!requirements) return std::unexpected(requirements.error());
  if (auto read = ProjectReader(project, *requirements).read(); !read)
    return std::unexpected(std::move(read).error());
  return project;
}

Outcome<std::optional<Project>> open_project_in(const std::string& folder) {
  const std::string path = (fs::path(folder) / "pyproject.toml").string();
  auto text = read_configuration(path);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::optional<Project>();
  auto project = parse_project(**text, path);
  if (!project) {
    const auto document = documents::parse_toml(**text, path);
    if (document && !document->contains("project")) return std::optional<Project>();
    return misconfigured(std::move(project).error());
  }
  project->stated_environment = variable("UV_PROJECT_ENVIRONMENT");
  return std::optional(*std::move(project));
}

Outcome<Project> open_project() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error)
    return failed({ErrorKind::io, fmt::format("the current folder: {}", error.message()), {}});
  std::string without;  // the nearest that is about something else
  for (fs::path folder = here;; folder = folder.parent_path()) {
    auto project = open_project_in(folder.string());
    if (!project) return std::unexpected(project.error());
    if (*project) return **std::move(project);
    const std::string path = (folder / "pyproject.toml").string();
    if (without.empty() && fs::exists(path, error)) without = path;
    if (folder == folder.parent_path()) break;
  }
  if (!without.empty())
    return misused(fmt::format("{}: it has no table [project], and neither has one of a folder "
                               "above",
                               without),
                   "add [project] with `name`, `version` and `dependencies`");
  return misused(fmt::format("no project: {} has no pyproject.toml, and no folder above it has one",
                             here.string()),
                 "`variant init` makes one");
}

}  // namespace axle::session
