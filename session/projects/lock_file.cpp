#include "session/projects/lock_file.h"

#include <filesystem>
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

std::string find_lock(const fs::path& from) {
  std::error_code error;
  for (fs::path folder = from; !folder.empty(); folder = folder.parent_path()) {
    const fs::path file = folder / plan::lock_filename;
    if (fs::exists(file, error)) return file.string();
    if (folder == folder.parent_path()) break;
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

Outcome<LockFile> open_lock() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return failed({ErrorKind::io, fmt::format("the current folder: {}", error.message())});
  const std::string path = find_lock(here);
  if (path.empty()) {
    return misused(fmt::format("there is no {} in {} or a folder above it", plan::lock_filename,
                               here.string()),
                   "`variant lock` makes one of a project's pyproject.toml");
  }
  auto text = read_input(path);
  if (!text) return failed(std::move(text).error());
  auto lock = plan::parse_lock(*text, path);
  if (!lock) return misconfigured(std::move(lock).error());
  return LockFile{fs::path(path).parent_path().string(), path, std::move(*lock)};
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

plan::LockSelection read_selection(const Arguments& arguments, const plan::Lock& lock) {
  plan::LockSelection wanted;
  if (arguments.has(Opt::all_extras)) {
    for (const auto& [name, requirements] : lock.requests.extras) wanted.extras.push_back(name);
  } else {
    for (const std::string& name : arguments.values(Opt::extra))
      wanted.extras.push_back(wheel::normalize_name(name));
  }
  for (const std::string& name : arguments.values(Opt::group))
    wanted.groups.push_back(wheel::normalize_name(name));
  return wanted;
}

}  // namespace axle::session
