#include "session/requests/read_requests.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "index/http/redaction.h"
#include "index/http/transport.h"
#include "index/pages/page.h"
#include "resolver/request/source_url.h"
#include "session/requests/dependency_groups.h"
#include "session/requests/package_place.h"
#include "session/requests/project_requirements.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

std::unexpected<CommandFailure> misused_at(const std::string& origin, Error error) {
  if (!origin.empty()) error = within(origin, std::move(error));
  return misused(std::move(error.message), std::move(error.hint));
}

/// A hash in the URL must be one of the hashes listed with it, if there are any of its kind.
Outcome<void> check_fragment(const FileRequirement& line, const wheel::Requirement& requirement) {
  const std::size_t fragment = requirement.url.find('#');
  if (fragment == std::string::npos || line.hashes.empty()) return {};
  wheel::ExpectedHash hash;
  const bool sound =
      index::note_fragment_hashes(hash, std::string_view(requirement.url).substr(fragment + 1));
  if (sound && wheel::may_be_listed(hash.as_listed(), line.hashes)) return {};
  return misused_at(line.origin, {ErrorKind::malformed,
                                  fmt::format("the hash in the URL of {} is not listed with --hash",
                                              requirement.name),
                                  "remove the wrong one"});
}

std::unexpected<CommandFailure> failed_at(const std::string& origin, Error error) {
  if (!origin.empty()) error = within(origin, std::move(error));
  return failed(error);
}

Outcome<wheel::Requirement> parse_named(const FileRequirement& line) {
  auto requirement = wheel::parse_requirement(line.text);
  if (!requirement) return misused_at(line.origin, std::move(requirement).error());
  if (auto found = make_absolute(*requirement, line.folder); !found) {
    if (found.error().kind == ErrorKind::malformed)
      return misused_at(line.origin, std::move(found).error());
    return failed_at(line.origin, std::move(found).error());
  }
  return *std::move(requirement);
}

/// What is used where it is, is a folder.
Outcome<void> check_editable(const FileRequirement& line, const wheel::Requirement& requirement) {
  if (!line.editable) return {};
  const auto source = resolver::parse_source_url(requirement.url);
  if (source && source->kind == resolver::SourceUrl::Kind::folder && !requirement.url.empty())
    return {};
  return misused_at(line.origin, {ErrorKind::malformed,
                                  fmt::format("`{}` cannot be editable: it is not a folder",
                                              index::redact_url(line.text)),
                                  "get the sources into a folder, and name that with -e"});
}

Outcome<void> take_requirement(const FileRequirement& line, resolver::Requests& requests) {
  // After -e a single word is a folder, too.
  const bool word =
      line.text.find_first_of("/@:") == std::string::npos && !line.text.starts_with('.');
  const std::string text = (line.editable && word ? "./" : "") + line.text;
  const auto take = [&](wheel::Requirement requirement) -> Outcome<void> {
    if (auto ok = check_editable(line, requirement); !ok) return ok;
    if (auto ok = check_fragment(line, requirement); !ok) return ok;
    requests.requirements.push_back(
        {std::move(requirement), line.hashes, line.origin, line.editable});
    return {};
  };
  if (const auto place = parse_package_place(text)) {
    auto requirement = requirement_at(*place, line.folder);
    if (!requirement) return failed_at(line.origin, std::move(requirement).error());
    return take(std::move(*requirement));
  }
  auto requirement = parse_named(line);
  if (!requirement) return std::unexpected(std::move(requirement).error());
  return take(std::move(*requirement));
}

/// What must have a name: a line of a constraints or overrides file, an entry of a dependency
/// group. `what`: "constraint".
Outcome<resolver::Request> read_named(const FileRequirement& line, std::string_view what) {
  if (parse_package_place(line.text)) {
    return misused_at(
        line.origin, {ErrorKind::malformed, fmt::format("the {} `{}` has no name", what, line.text),
                      "write it as `NAME @ URL`"});
  }
  auto requirement = parse_named(line);
  if (!requirement) return std::unexpected(std::move(requirement).error());
  if (auto ok = check_fragment(line, *requirement); !ok) return std::unexpected(ok.error());
  return resolver::Request{std::move(*requirement), line.hashes, line.origin};
}

Outcome<void> take_constraint(const FileRequirement& line, resolver::Requests& requests) {
  auto constraint = read_named(line, "constraint");
  if (!constraint) return std::unexpected(std::move(constraint).error());
  if (!constraint->requirement.extras.empty()) {
    return misused_at(
        line.origin,
        {ErrorKind::malformed, fmt::format("the constraint `{}` asks for extras", line.text),
         "a constraint only limits versions: specify the extras in a requirement"});
  }
  requests.constraints.push_back(std::move(*constraint));
  return {};
}

Outcome<void> take_override(const FileRequirement& line, resolver::Requests& requests) {
  auto override_ = read_named(line, "override");
  if (!override_) return std::unexpected(std::move(override_).error());
  requests.overrides.push_back(std::move(*override_));
  return {};
}

Outcome<void> take_entry_of_group(const FileRequirement& entry, resolver::Requests& requests) {
  auto requirement = read_named(entry, "requirement");
  if (!requirement) return std::unexpected(std::move(requirement).error());
  requests.requirements.push_back(std::move(*requirement));
  return {};
}

using Taker = Outcome<void> (*)(const FileRequirement& line, resolver::Requests& requests);

Outcome<void> take_all(const std::vector<FileRequirement>& lines, Taker taker,
                       resolver::Requests& requests) {
  for (const FileRequirement& line : lines) {
    if (auto taken = taker(line, requests); !taken) return taken;
  }
  return {};
}

/// The files of -r, with what a project requires apart: those count as lines without options.
Outcome<void> read_files(const Arguments& arguments, const RemoteText& remote,
                         RequirementsFile& into) {
  std::vector<std::string> projects;
  for (const std::string& path : arguments.values(Opt::requirement)) {
    if (is_project_file(path)) {
      projects.push_back(path);
      continue;
    }
    const Result<void> read = read_requirements_file(path, false, remote, into);
    if (!read) return failed(read.error());
  }
  const RequestedExtras extras = requested_extras(arguments);
  if (extras.all && !extras.names.empty())
    return misused("--extra and --all-extras cannot be combined", "leave one of them out");
  if (projects.empty() && (extras.all || !extras.names.empty())) {
    return misused(fmt::format("{} is about a pyproject.toml, and none is named with -r",
                               extras.all ? "--all-extras" : "--extra"),
                   "name it, or write the extra to the package: pkg[extra]");
  }
  into.read.places.insert(into.read.places.end(), projects.begin(), projects.end());
  auto requirements = read_project_requirements(projects, extras);
  if (!requirements) return failed(requirements.error());
  std::ranges::move(*requirements, std::back_inserter(into.requirements));
  return {};
}

Outcome<void> read_file(const Stated& path, bool as_constraints, const RemoteText& remote,
                        RequirementsFile& into) {
  const Result<void> read = read_requirements_file(path.value, as_constraints, remote, into);
  if (!read) return failed(path.origin.empty() ? read.error() : within(path.origin, read.error()));
  return {};
}

/// Of "demo[extra]>=1 ; marker", "demo @ URL" or "demo".
Outcome<std::string> name_of(const FileRequirement& line) {
  if (parse_package_place(line.text)) {
    return misused_at(line.origin, {ErrorKind::malformed,
                                    fmt::format("`{}` is the place of a package", line.text),
                                    "name the package that was installed from it"});
  }
  auto requirement = wheel::parse_requirement(line.text);
  if (!requirement) return misused_at(line.origin, std::move(requirement).error());
  return requirement->name;
}

}  // namespace

Outcome<std::vector<std::string>> read_names(const Arguments& arguments, const RemoteText& remote) {
  RequirementsFile file;
  if (auto read = read_files(arguments, remote, file); !read) return std::unexpected(read.error());
  std::vector<FileRequirement> lines;
  for (const std::string& text : arguments.positionals)
    lines.push_back({space_before_marker(text)});
  std::ranges::move(file.requirements, std::back_inserter(lines));
  std::vector<std::string> names;
  for (const FileRequirement& line : lines) {
    auto name = name_of(line);
    if (!name) return std::unexpected(std::move(name).error());
    names.push_back(*std::move(name));
  }
  return names;
}

Outcome<resolver::Requests> read_requests(const Arguments& arguments, const RemoteText& remote,
                                          FilesRead& files) {
  const auto groups = read_dependency_groups(arguments.values(Opt::group));
  if (!groups) return failed(groups.error());
  RequirementsFile file;
  if (auto read = read_files(arguments, remote, file); !read) return std::unexpected(read.error());
  for (const std::string& path : arguments.values(Opt::constraint)) {
    if (auto read = read_file({path, {}}, true, remote, file); !read)
      return std::unexpected(read.error());
  }
  resolver::Requests requests;
  for (const std::string& text : arguments.positionals) {
    if (auto taken = take_requirement({space_before_marker(text)}, requests); !taken)
      return std::unexpected(taken.error());
  }
  for (const std::string& text : arguments.values(Opt::editable)) {
    const FileRequirement line{.text = space_before_marker(text), .editable = true};
    if (auto taken = take_requirement(line, requests); !taken)
      return std::unexpected(taken.error());
  }
  if (auto taken = take_all(*groups, take_entry_of_group, requests); !taken)
    return std::unexpected(taken.error());
  if (auto taken = take_all(file.requirements, take_requirement, requests); !taken)
    return std::unexpected(taken.error());
  if (auto taken = take_all(file.constraints, take_constraint, requests); !taken)
    return std::unexpected(taken.error());
  files = std::move(file.read);
  return requests;
}

Outcome<void> read_configured(const Settings& settings, const RemoteText& remote,
                              resolver::Requests& requests, FilesRead& files) {
  RequirementsFile limits;
  for (const Stated& path : settings.constraint_files) {
    if (auto read = read_file(path, true, remote, limits); !read) return read;
  }
  for (const Stated& text : settings.constraint_texts)
    limits.constraints.push_back({.text = text.value, .origin = text.origin});
  RequirementsFile overrides;
  for (const Stated& path : settings.override_files) {
    if (auto read = read_file(path, false, remote, overrides); !read) return read;
  }
  for (const Stated& text : settings.override_texts)
    overrides.requirements.push_back({.text = text.value, .origin = text.origin});
  // A file named with -c in an overrides file contains ordinary constraints.
  limits.constraints.insert(limits.constraints.end(), overrides.constraints.begin(),
                            overrides.constraints.end());
  if (auto taken = take_all(limits.constraints, take_constraint, requests); !taken) return taken;
  if (auto taken = take_all(overrides.requirements, take_override, requests); !taken) return taken;
  files = std::move(limits.read);
  files.options.add_all(overrides.read.options);
  std::ranges::move(overrides.read.places, std::back_inserter(files.places));
  return {};
}

}  // namespace axle::session
