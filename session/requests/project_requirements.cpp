#include "session/requests/project_requirements.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/text/nearest.h"
#include "session/input_file.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

Result<ProjectRequirements> read_project_file(const std::string& file) {
  const auto text = read_input(file);
  if (!text) return std::unexpected(text.error());
  return ProjectRequirements::parse(*text, file);
}

/// An extra that no project has.
Result<void> check_extras(const std::vector<ProjectRequirements>& projects,
                          const RequestedExtras& extras) {
  for (const std::string& extra : extras.names) {
    const std::string name = wheel::normalize_name(extra);
    if (std::ranges::any_of(projects,
                            [&](const ProjectRequirements& one) { return one.has(name); }))
      continue;
    std::vector<std::string> known;
    for (const ProjectRequirements& project : projects)
      std::ranges::copy(project.extras(), std::back_inserter(known));
    return fail(ErrorKind::not_found,
                fmt::format("--extra {}: the project has no such extra", extra),
                text::suggest(extra, known, "extras are in [project.optional-dependencies]"));
  }
  return {};
}

}  // namespace

struct ProjectRequirements::Taking {
  std::vector<FileRequirement>& into;
  /// Extras; what they name of the project itself is added to the end meanwhile.
  std::vector<std::string> wanted;
  std::set<std::string> taken = {wanted.begin(), wanted.end()};
};

Result<ProjectRequirements> ProjectRequirements::parse(std::string_view text, std::string where) {
  ProjectRequirements made(std::move(where));
  auto document = documents::parse_toml(text, made.where_);
  if (!document) return std::unexpected(std::move(document).error());
  made.document_ = std::move(*document);
  const toml::table* project = made.document_["project"].as_table();
  if (project == nullptr)
    return fail(ErrorKind::malformed, fmt::format("{}: it has no table [project]", made.where_),
                "its requirements are those of [project]: dependencies");
  made.name_ = wheel::normalize_name((*project)["name"].value_or(std::string()));
  if (const toml::array* dynamic = (*project)["dynamic"].as_array()) {
    for (const toml::node& one : *dynamic) {
      const std::string field = one.value_or(std::string());
      if (field != "dependencies" && field != "optional-dependencies") continue;
      return fail(ErrorKind::malformed,
                  fmt::format("{}:{}: `{}` is dynamic: only a build finds out what it is",
                              made.where_, one.source().begin.line, field),
                  "build a wheel of the project with pip, and install that");
    }
  }
  made.dependencies_ = project->get("dependencies");
  if (auto read = made.read_extras(); !read) return std::unexpected(std::move(read).error());
  return made;
}

Result<void> ProjectRequirements::read_extras() {
  const toml::node* optional = table().get("optional-dependencies");
  if (optional == nullptr) return {};
  const toml::table* extras = optional->as_table();
  if (extras == nullptr) return bad(*optional, "optional-dependencies is not a table");
  for (const auto& [key, entries] : *extras) {
    if (!extras_.emplace(wheel::normalize_name(key.str()), &entries).second)
      return bad(entries, fmt::format("two extras have the same name, normalised: {}",
                                      wheel::normalize_name(key.str())));
  }
  return {};
}

std::vector<std::string> ProjectRequirements::extras() const {
  std::vector<std::string> names;
  for (const auto& [name, entries] : extras_) names.push_back(name);
  return names;
}

std::unexpected<Error> ProjectRequirements::bad(const toml::node& at, std::string_view why) const {
  return fail(ErrorKind::malformed, fmt::format("{}:{}: {}", where_, at.source().begin.line, why),
              "see the specification of [project]");
}

Result<void> ProjectRequirements::take(std::vector<std::string> wanted,
                                       std::vector<FileRequirement>& into) const {
  Taking taking{into, std::move(wanted)};
  if (dependencies_ != nullptr) {
    if (auto done = take_list(*dependencies_, "dependencies", taking); !done) return done;
  }
  return take_extras(taking);
}

Result<void> ProjectRequirements::take_extra(const std::string& extra,
                                             std::vector<FileRequirement>& into) const {
  Taking taking{into, {extra}};
  return take_extras(taking);
}

Result<void> ProjectRequirements::take_extras(Taking& taking) const {
  for (std::size_t i = 0; i < taking.wanted.size(); ++i) {
    const std::string extra = taking.wanted[i];
    if (auto done = take_list(*extras_.at(extra), "extra " + extra, taking); !done) return done;
  }
  return {};
}

Result<void> ProjectRequirements::take_list(const toml::node& list, const std::string& what,
                                            Taking& taking) const {
  const toml::array* entries = list.as_array();
  if (entries == nullptr) return bad(list, what + " is not a list");
  for (const toml::node& entry : *entries) {
    const auto* text = entry.as_string();
    if (text == nullptr) return bad(entry, "a requirement is not a string");
    const auto requirement = wheel::parse_requirement(text->get());
    const bool own =
        requirement && !name_.empty() && wheel::normalize_name(requirement->name) == name_;
    if (!own) {
      taking.into.push_back(
          {.text = text->get(),
           .origin = fmt::format("{}:{}, {}", where_, entry.source().begin.line, what)});
      continue;
    }
    if (requirement->marker)
      return bad(entry,
                 "a marker on an extra of the project itself is not supported: write it "
                 "at the requirements of that extra");
    for (const std::string& extra : requirement->extras) {
      if (!has(extra)) return bad(entry, fmt::format("the project has no extra `{}`", extra));
      if (taking.taken.insert(extra).second) taking.wanted.push_back(extra);
    }
  }
  return {};
}

bool is_project_file(std::string_view path) {
  return std::filesystem::path(path).filename() == "pyproject.toml" && !path.contains("://");
}

RequestedExtras requested_extras(const Arguments& arguments) {
  return {arguments.values(Opt::extra), arguments.has(Opt::all_extras)};
}

bool is_extra_requested(const std::string& file, std::string_view name,
                        const Arguments& arguments) {
  const RequestedExtras extras = requested_extras(arguments);
  const bool wanted =
      extras.all || std::ranges::any_of(extras.names, [&](const std::string& extra) {
        return wheel::normalize_name(extra) == wheel::normalize_name(name);
      });
  const std::vector<std::string> files = arguments.values(Opt::requirement);
  return wanted && std::ranges::any_of(files, [&](const std::string& one) {
           std::error_code absent;
           return is_project_file(one) && std::filesystem::equivalent(one, file, absent);
         });
}

Result<std::vector<FileRequirement>> read_project_requirements(
    const std::vector<std::string>& files, const RequestedExtras& extras) {
  std::vector<ProjectRequirements> projects;
  projects.reserve(files.size());
  for (const std::string& file : files) {
    auto project = read_project_file(file);
    if (!project) return std::unexpected(std::move(project).error());
    projects.push_back(std::move(*project));
  }
  if (auto good = check_extras(projects, extras); !good) return std::unexpected(good.error());
  std::vector<FileRequirement> requirements;
  for (const ProjectRequirements& project : projects) {
    std::vector<std::string> wanted = extras.all ? project.extras() : std::vector<std::string>();
    for (const std::string& extra : extras.names) {
      std::string name = wheel::normalize_name(extra);
      if (project.has(name) && std::ranges::find(wanted, name) == wanted.end())
        wanted.push_back(std::move(name));
    }
    if (auto taken = project.take(std::move(wanted), requirements); !taken)
      return std::unexpected(std::move(taken).error());
  }
  return requirements;
}

}  // namespace axle::session
