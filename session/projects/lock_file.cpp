#include "session/projects/lock_file.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/nearest.h"
#include "foundation/text/quote.h"
#include "session/input_file.h"
#include "wheel/requirement.h"

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

/// The value that one fact must have; empty: any may do.
std::string stated(const resolver::Predicate& holds, std::string_view fact) {
  for (const resolver::Atom& atom : holds.atoms) {
    if (atom.fact == fact && atom.kind == resolver::AtomKind::equal && !atom.values.empty())
      return atom.values.front();
  }
  return {};
}

struct SystemMarkers {
  std::string_view fact, os_name, sys_platform, platform_system;
};

constexpr SystemMarkers system_markers[] = {{"linux", "posix", "linux", "Linux"},
                                            {"windows", "nt", "win32", "Windows"},
                                            {"darwin", "posix", "darwin", "Darwin"}};

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
  wheel::MarkerEnvironment markers;
  markers.strings = {{"python_version", about.python},
                     {"python_full_version", about.python + ".0"},
                     {"implementation_name", "cpython"},
                     {"implementation_version", about.python + ".0"},
                     {"platform_python_implementation", "CPython"}};
  const std::string system = stated(one.holds, "system");
  for (const SystemMarkers& row : system_markers) {
    if (system.empty() ? row.fact != "linux" : row.fact != system) continue;
    markers.strings["os_name"] = row.os_name;
    markers.strings["sys_platform"] = row.sys_platform;
    markers.strings["platform_system"] = row.platform_system;
  }
  std::string arch = stated(one.holds, "arch");
  if (system == "windows" && arch == "x86_64") arch = "AMD64";
  markers.strings["platform_machine"] = arch.empty() ? "x86_64" : arch;
  return markers;
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
