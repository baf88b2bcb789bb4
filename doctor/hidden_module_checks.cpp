// Modules of installed packages, and of Python itself, that others with their names come before on
// sys.path.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "doctor/hidden_modules.h"
#include "doctor/start/start_fixes.h"
#include "foundation/system/shell_command.h"
#include "index/http/url.h"
#include "session/direct_url.h"
#include "wheel/requirement.h"

namespace axle::doctor {

namespace {

namespace fs = std::filesystem;
using By = SearchFolder::By;

std::string render_by(const SearchFolder& folder) {
  switch (folder.by) {
    case By::current_folder:
      return "the current folder";
    case By::python_path:
      return "PYTHONPATH";
    case By::user_site:
      return "the user site";
    case By::program:
      if (folder.file.empty()) return "a program that Python runs at its start";
      if (folder.line == 0) return folder.file;
      [[fallthrough]];
    case By::pth:
      return fmt::format("{}, line {}", folder.file, folder.line);
    case By::standard_library:
    case By::site:
      break;
  }
  return "sys.path";
}

/// " (numpy 1.26.4)", from a .dist-info beside the module; empty: there is none.
std::string version_beside(const HiddenModule& module, const std::string& folder) {
  if (module.package == nullptr) return {};
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const std::size_t dash = name.find('-');
    if (!name.ends_with(".dist-info") || dash == std::string::npos ||
        wheel::normalize_name(name.substr(0, dash)) != module.package->distribution.name)
      continue;
    const std::string version = name.substr(dash + 1, name.rfind('.') - dash - 1);
    return fmt::format(" ({} {})", module.package->distribution.name, version);
  }
  return {};
}

/// The package was installed from the sources in that folder.
bool is_its_source(const HiddenModule& module, const std::string& folder) {
  if (module.package == nullptr) return false;
  const session::DirectUrl direct =
      session::read_direct_url(module.package->distribution.direct_url);
  const auto path = index::file_path(direct.url);
  return direct.folder && path &&
         (real_path(*path) == folder || real_path(*path + "/src") == folder);
}

bool are_installed_sources(const std::vector<HiddenModule>& modules, const std::string& folder) {
  const std::string real = real_path(folder);
  return std::ranges::all_of(
      modules, [&](const HiddenModule& module) { return is_its_source(module, real); });
}

/// A .pth file of an installed package comes back with it.
const InstalledPackageFiles* owner_of(const std::string& pth_file, const InstalledFiles& files) {
  const std::string real = real_path(pth_file);
  for (const InstalledPackageFiles& package : files.packages) {
    const bool own = std::ranges::any_of(package.record, [&](const wheel::RecordEntry& entry) {
      return real == package.real_site + "/" + entry.path;
    });
    if (own) return &package;
  }
  return nullptr;
}

/// All that puts what hides some modules on the path: without a part of it they would be hidden by
/// the rest.
struct HidingWays {
  bool current_folder = false;
  bool python_path = false;
  std::string user_site;                                    ///< empty: not that
  std::map<std::string, std::set<unsigned>> pth_lines;      ///< by file
  std::map<std::string, std::set<unsigned>> program_lines;  ///< the same; 0: the line is unknown
  bool unknown_program = false;

  void add(By by, const std::string& folder, const std::string& file, unsigned line) {
    current_folder = current_folder || by == By::current_folder;
    python_path = python_path || by == By::python_path;
    if (by == By::user_site) user_site = folder;
    if (by == By::pth) pth_lines[file].insert(line);
    if (by != By::program) return;
    if (file.empty()) {
      unknown_program = true;
    } else {
      program_lines[file].insert(line);
    }
  }
};

HidingWays ways_of(const std::vector<HiddenModule>& modules, const SearchPath& path) {
  HidingWays ways;
  for (const HiddenModule& module : modules) {
    for (const std::size_t place : module.hiders) {
      const SearchFolder& folder = path.folders[place];
      ways.add(folder.by, folder.path, folder.file, folder.line);
      for (const SearchFolder::Again& again : folder.again) {
        if (again.place <= module.place) ways.add(again.by, folder.path, again.file, again.line);
      }
    }
  }
  // The files of a folder that is left out are not read.
  if (!ways.user_site.empty()) {
    const auto in_it = [&](const auto& one) {
      return fs::path(one.first).parent_path() == ways.user_site;
    };
    std::erase_if(ways.pth_lines, in_it);
    std::erase_if(ways.program_lines, in_it);
  }
  return ways;
}

void leave_out_lines(const HidingWays& ways, const InstalledFiles& files, Hint& hint) {
  Packages owners;
  for (const auto& [file, lines] : ways.pth_lines) {
    if (const InstalledPackageFiles* owner = owner_of(file, files)) {
      if (std::ranges::find(owners, owner) == owners.end()) owners.push_back(owner);
      continue;
    }
    const std::string script = fmt::format("{}d", fmt::join(lines, "d;"));
    hint.commands.push_back(shell_command(std::vector<std::string>{"sed", "-i", script, file}));
  }
  if (!owners.empty()) hint.commands.push_back(uninstall_command(owners, files));
}

/// A line that becomes a comment leaves the numbers of the others as they are.
void leave_out_programs(const HidingWays& ways, const InstalledFiles& files, Hint& hint) {
  for (const auto& [file, lines] : ways.program_lines) {
    Hint one = out_of_the_start(files.environment.python, file,
                                lines.contains(0) ? std::set<unsigned>() : lines, /*starts=*/true);
    if (one.words.empty() && !file.ends_with(".pth") && !lines.contains(0))
      one.words = fmt::format("take line {} out of {}, or put the file aside",
                              fmt::join(lines, ", "), file);
    if (!one.words.empty()) hint.words += (hint.words.empty() ? "" : "; ") + one.words;
    std::ranges::move(one.commands, std::back_inserter(hint.commands));
  }
}

/// For the current folder there are other ways than a variable, and none but these for a Python
/// that does not know it.
std::string words_on_current_folder(const std::vector<HiddenModule>& modules,
                                    const SearchFolder& folder, bool known) {
  std::string_view file = modules.front().file;
  file = file.substr(0, file.find("/__init__.", file.rfind('/')));
  const std::string words =
      are_installed_sources(modules, folder.path)
          ? "install it as editable, or start programs in another folder"
          : fmt::format("rename {}, or start programs in another folder", file);
  return words + (known ? "; or let Python leave the current folder out" : "");
}

Hint hint_of(std::size_t place, const HiddenModules& hidden, const SearchPath& path,
             const InstalledFiles& files) {
  const std::vector<HiddenModule>& modules = hidden.all().at(place);
  const HidingWays ways = ways_of(modules, path);
  Hint hint;
  if (ways.unknown_program)
    return {
        "look for what puts it there: a line of a .pth file that begins with `import`, or a "
        "sitecustomize or usercustomize"};
  if (ways.current_folder) {
    const bool known = path.may_leave_out_current_folder;
    hint.words = words_on_current_folder(modules, path.folders[place], known);
    if (!known) return hint;
    hint.commands.emplace_back("export PYTHONSAFEPATH=1");
  }
  // Without all such folders: the command for one finding must not restore that of another.
  if (ways.python_path)
    hint.commands.push_back(
        variable_without("PYTHONPATH", path.python_path,
                         [&](const std::string& item) { return hidden.hides(item); }));
  if (!ways.user_site.empty()) hint.commands.emplace_back("export PYTHONNOUSERSITE=1");
  leave_out_programs(ways, files, hint);
  leave_out_lines(ways, files, hint);
  return hint;
}

std::string title_of_hidden(const std::vector<HiddenModule>& modules) {
  std::vector<std::string> titles;
  for (const HiddenModule& module : modules) {
    std::string title =
        module.package == nullptr ? fmt::format("Python's {}", module.name) : module.package->title;
    if (std::ranges::find(titles, title) == titles.end()) titles.push_back(std::move(title));
  }
  const std::size_t shown = std::min(titles.size(), most_examples);
  const auto end = titles.begin() + static_cast<std::ptrdiff_t>(shown);
  return fmt::format(
      "{}{}", fmt::join(titles.begin(), end, ", "),
      titles.size() > shown ? fmt::format(" and {} more", titles.size() - shown) : "");
}

/// "/a, which PYTHONPATH puts", "/a and /b, which /x.pth, lines 1 and 2 put".
std::string render_hiders(const std::vector<HiddenModule>& modules, const SearchPath& path) {
  std::set<std::size_t> places;
  for (const HiddenModule& module : modules) places.insert(module.hiders.front());
  std::vector<std::string> folders;
  std::vector<unsigned> lines;
  for (const std::size_t place : places) {
    folders.push_back(path.folders[place].path);
    lines.push_back(path.folders[place].line);
  }
  const SearchFolder& first = path.folders[modules.front().hiders.front()];
  const std::string by = folders.size() == 1
                             ? render_by(first)
                             : fmt::format("{}, lines {}", first.file, fmt::join(lines, ", "));
  return fmt::format("{} instead, which {} {} before {} on sys.path", fmt::join(folders, " and "),
                     by, folders.size() == 1 ? "puts" : "put", modules.size() == 1 ? "it" : "them");
}

void say_hidden(std::size_t place, const HiddenModules& hidden, const SearchPath& path,
                const InstalledFiles& files, Findings& findings) {
  const SearchFolder& folder = path.folders[place];
  const std::vector<HiddenModule>& modules = hidden.all().at(place);
  const std::string what = modules.size() == 1 ? fmt::format("`{}`", modules.front().name)
                                               : fmt::format("{} modules", modules.size());
  Finding& finding =
      findings.add("module-hidden", title_of_hidden(modules),
                   fmt::format("Python imports {} from {}", what, render_hiders(modules, path)));
  if (folder.by == By::current_folder) {
    finding.message =
        fmt::format("programs started in this folder import {} from it instead", what);
    if (are_installed_sources(modules, folder.path)) {
      finding.level = FindingLevel::info;
      finding.message += ": it has the sources that were installed";
    }
  }
  for (const HiddenModule& module : modules) {
    if (finding.evidence.size() + 2 > most_examples + 1) break;
    const SearchFolder& hider = path.folders[module.hiders.front()];
    finding.evidence.push_back(
        {module.file, render_by(hider),
         fmt::format("is imported as `{}`{}", module.name, version_beside(module, hider.path))});
    finding.evidence.push_back(
        {module.own, "",
         fmt::format("is not imported ({})",
                     module.package == nullptr ? "Python's own" : module.package->title)});
  }
  if (folder.by == By::program && folder.file.empty()) {
    for (const PathProgram& program : path.programs)
      finding.evidence.push_back(
          {program.file, fmt::format("line {}", program.line), "speaks of sys.path"});
  }
  finding.hint = hint_of(place, hidden, path, files);
}

/// Which lines put the folders of programs on the path: all of them, or the next one would do it.
/// What puts one at the end of the path is to blame only where nothing else does.
void name_programs(const StartTrace& trace, bool at_end, SearchPath& path) {
  std::set<std::string> named;
  for (const SearchFolder& folder : path.folders) {
    if (!folder.file.empty()) named.insert(folder.path);
  }
  for (const PathChange& change : trace.path_changes) {
    const auto folder =
        std::ranges::find(path.folders, plain_path(change.folder), &SearchFolder::path);
    if (folder == path.folders.end() || folder->by != By::program) continue;
    if (change.at_end != at_end || named.contains(folder->path)) continue;
    if (folder->file.empty()) {
      folder->file = change.file;
      folder->line = change.line;
    } else {
      folder->again.push_back({By::program, change.file, change.line, 0});
    }
  }
}

}  // namespace

void check_hidden_modules(const InstalledFiles& files, const StartedSearch& started,
                          Findings& findings) {
  auto path = read_search_path(files.environment, started);
  if (!path)
    return findings.not_looked_at("where its interpreter searches modules: " +
                                  path.error().message);
  if (started.path.empty()) {
    for (const PathProgram& program : path->programs)
      findings.not_looked_at(
          fmt::format("what a program does to sys.path: {}, line {}", program.file, program.line));
  }
  const HiddenModules hidden(files, *path, findings);
  const bool by_program = std::ranges::any_of(
      hidden.hiders(), [&](std::size_t place) { return path->folders[place].by == By::program; });
  if (by_program) {
    const StartTrace trace = trace_start(files.environment.python, {});
    for (const bool at_end : {false, true}) name_programs(trace, at_end, *path);
  }
  for (const auto& [place, modules] : hidden.all())
    say_hidden(place, hidden, *path, files, findings);
}

}  // namespace axle::doctor
