#include "session/projects/lock_file.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/nearest.h"
#include "foundation/text/quote.h"
#include "session/input_file.h"
#include "wheel/requirement.h"
#include "wheel/system_platform.h"

namespace axle::session {
namespace {

namespace fs = std::filesystem;

using GroupNames = std::vector<std::string>;

GroupNames names_of(const std::map<std::string, GroupNames, std::less<>>& requests) {
  GroupNames names;
  names.reserve(requests.size());
  for (const auto& [name, requirements] : requests) names.push_back(name);
  return names;
}

/// The names among `known` that `id` gives, normalised.
Outcome<GroupNames> known_names(const Arguments& arguments, Opt id, const GroupNames& known) {
  GroupNames names;
  for (const std::string& one : arguments.values(id)) {
    std::string name = wheel::normalize_name(one);
    if (std::ranges::find(known, name) == known.end()) {
      return misused(fmt::format("{} {}: the project has none of that name", option_name(id), one),
                     text::suggest(name, known,
                                   known.empty() ? "it has none at all"
                                                 : "it has " + text::joined_by_or(known)));
    }
    names.push_back(std::move(name));
  }
  return names;
}

/// As with uv: what leaves the project's own dependencies out has no extras, and names its groups.
Outcome<void> refuse_beside_only(const Arguments& arguments) {
  for (const Opt only : {Opt::only_group, Opt::only_dev}) {
    for (const Opt other : {Opt::group, Opt::all_groups, Opt::extra, Opt::all_extras}) {
      if (arguments.has(only) && arguments.has(other))
        return misused(
            fmt::format("{} and {} cannot be combined", option_name(only), option_name(other)),
            "name each group with --only-group, or leave it out");
    }
  }
  return {};
}

/// The architecture that it asks for, also where it follows from a level or a capability; empty:
/// any, or one of several.
std::string architecture_of(const resolver::Predicate& holds) {
  for (const resolver::Atom& atom : holds.atoms) {
    if (atom.fact == "arch" && atom.kind == resolver::AtomKind::equal) return atom.values.front();
    const bool needs =
        atom.kind == resolver::AtomKind::at_least || atom.kind == resolver::AtomKind::has;
    const std::string fact =
        atom.fact == "cpu" ? std::string(resolver::cpu_fact) + atom.values.front() : atom.fact;
    if (const auto arch = resolver::architecture_of_fact(fact); needs && !arch.empty())
      return std::string(arch);
  }
  return {};
}

constexpr std::pair<std::string_view, std::string_view> system_names[] = {
    {"linux", wheel::linux_system},
    {"windows", wheel::windows_system},
    {"darwin", wheel::mac_system}};

/// As platform.system() has it; empty: any, or one of several.
std::string_view system_of(const resolver::Predicate& holds) {
  for (const resolver::Atom& atom : holds.atoms) {
    for (const auto& [fact, name] : system_names) {
      if (resolver::system_needed(atom) == fact) return name;
    }
  }
  return {};
}

}  // namespace

CommandFailure no_lock(const std::string& folder) {
  return misconfigured({ErrorKind::not_found,
                        fmt::format("{} has no {}", folder, plan::lock_filename),
                        "`variant lock` makes it"})
      .error();
}

Outcome<std::optional<plan::Lock>> read_lock_at(const std::string& path) {
  auto text = read_input(path);
  if (!text) {
    if (text.error().kind == ErrorKind::not_found) return std::optional<plan::Lock>();
    return misconfigured(std::move(text).error());
  }
  auto lock = plan::parse_lock(*text, path);
  if (!lock) return misconfigured(std::move(lock).error());
  for (const plan::LockedClass& one : lock->classes) {
    if (auto holds = resolver::parse_predicate(one.holds); !holds)
      return misconfigured(
          within(fmt::format("{}: class {}: holds", path, one.name), std::move(holds).error()));
  }
  return std::optional(*std::move(lock));
}

Outcome<std::optional<plan::Lock>> read_lock(const Project& project) {
  return read_lock_at(project.lock_path());
}

Outcome<LockFile> open_lock() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return failed({ErrorKind::io, fmt::format("the current folder: {}", error.message())});
  for (fs::path folder = here;; folder = folder.parent_path()) {
    const std::string path = (folder / plan::lock_filename).string();
    auto lock = read_lock_at(path);
    if (!lock) return std::unexpected(lock.error());
    auto project = open_project_in(folder.string());
    if (!project) return std::unexpected(project.error());
    if (*lock) return LockFile{folder.string(), path, **std::move(lock), *std::move(project)};
    if (*project) return std::unexpected(no_lock(folder.string()));
    if (folder == folder.parent_path()) break;
  }
  CommandFailure none = no_lock(here.string());
  none.error.message =
      fmt::format("there is no {} in {} or a folder above it", plan::lock_filename, here.string());
  return std::unexpected(std::move(none));
}

Outcome<OpenedClass> open_class(const plan::Lock& lock, std::string_view name) {
  const plan::LockedClass* const about = lock.find_class(name);
  if (about == nullptr) {
    std::vector<std::string> names;
    for (const plan::LockedClass& one : lock.classes) names.push_back(one.name);
    return misused(
        fmt::format("the lock has no class {}", text::quote(name)),
        text::suggest(name, names, fmt::format("its classes are {}", text::joined_by_or(names))));
  }
  auto holds = resolver::parse_predicate(about->holds);
  if (!holds)
    return misconfigured(within(fmt::format("class {} of the lock", name), holds.error()));
  return OpenedClass{*about, std::move(*holds)};
}

wheel::MarkerEnvironment class_markers(const OpenedClass& one) {
  const plan::LockedClass& about = one.about;
  // The first release that it is for.
  std::string full = about.python + ".0";
  if (const auto releases = wheel::parse_specifiers(about.python_releases)) {
    for (const wheel::Specifier& one_bound : releases->specifiers) {
      const auto first = wheel::parse_version(full);
      if (one_bound.comparison == wheel::Comparison::greater_equal && *first < one_bound.version)
        full = one_bound.text;
    }
  }
  wheel::MarkerEnvironment markers;
  wheel::put_cpython_markers(markers, full);
  // Where the answer does not depend on them, some machine's will do.
  const std::string arch = architecture_of(one.holds);
  wheel::put_system_markers(markers, system_of(one.holds), arch.empty() ? "x86_64" : arch);
  return markers;
}

std::string environment_marker(const OpenedClass& one) {
  const std::string_view system = system_of(one.holds);
  const std::string arch = architecture_of(one.holds);
  std::string machines;
  for (const auto& [fact, name] : system_names) {
    if (arch.empty() || (!system.empty() && system != name)) continue;
    const std::string clause =
        fmt::format("platform_machine == '{}'", wheel::machine_name(name, arch));
    if (!machines.contains(clause)) machines += (machines.empty() ? "" : " or ") + clause;
  }
  if (system.empty()) return machines;
  const std::string marker =
      fmt::format("sys_platform == '{}'", class_markers(one).strings.at("sys_platform"));
  return machines.empty() ? marker : marker + " and " + machines;
}

Outcome<plan::LockSelection> read_selection(const Arguments& arguments, const plan::Lock& lock,
                                            const GroupNames& default_groups) {
  if (auto sound = refuse_beside_only(arguments); !sound) return std::unexpected(sound.error());
  const GroupNames groups = names_of(lock.requests.groups);
  const GroupNames extras = names_of(lock.requests.extras);
  std::map<Opt, GroupNames> named;
  for (const Opt id : {Opt::only_group, Opt::group, Opt::no_group, Opt::extra, Opt::no_extra}) {
    const bool of_extras = id == Opt::extra || id == Opt::no_extra;
    auto names = known_names(arguments, id, of_extras ? extras : groups);
    if (!names) return std::unexpected(names.error());
    named[id] = *std::move(names);
  }
  const std::string dev = "dev";
  if (arguments.has(Opt::no_dev)) named[Opt::no_group].push_back(dev);
  if (arguments.has(Opt::only_dev)) named[Opt::only_group].push_back(dev);
  if (arguments.has(Opt::dev)) named[Opt::group].push_back(dev);
  const bool whole = !arguments.has(Opt::only_group) && !arguments.has(Opt::only_dev);
  std::set<std::string> wanted(named[Opt::only_group].begin(), named[Opt::only_group].end());
  wanted.insert(named[Opt::group].begin(), named[Opt::group].end());
  if (whole && !arguments.has(Opt::no_default_groups))
    wanted.insert(default_groups.begin(), default_groups.end());
  if (arguments.has(Opt::all_groups)) wanted.insert(groups.begin(), groups.end());
  for (const std::string& name : named[Opt::no_group]) wanted.erase(name);
  plan::LockSelection selection;
  selection.project = whole;
  std::ranges::set_intersection(wanted, groups, std::back_inserter(selection.groups));
  const GroupNames& some = arguments.has(Opt::all_extras) ? extras : named[Opt::extra];
  std::set<std::string> added(some.begin(), some.end());
  for (const std::string& name : named[Opt::no_extra]) added.erase(name);
  selection.extras.assign(added.begin(), added.end());
  return selection;
}

}  // namespace axle::session
