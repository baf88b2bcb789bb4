#include "doctor/hidden_modules.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "installer/file_access.h"
#include "wheel/requirement.h"

namespace axle::doctor {

namespace {

namespace fs = std::filesystem;
using By = SearchFolder::By;

/// Nearly each source tree has them, and nobody imports them from outside.
constexpr std::array<std::string_view, 9> names_of_trees = {
    "setup", "conftest", "tests", "test", "docs", "examples", "benchmarks", "scripts", "tools"};

constexpr std::uint64_t largest_namespace_file = 4096;  // bytes

bool is_name_of_trees(std::string_view name) {
  return std::ranges::find(names_of_trees, name.substr(0, name.find('.'))) != names_of_trees.end();
}

std::string path_of_name(std::string name) {
  std::ranges::replace(name, '.', '/');
  return name;
}

/// An __init__.py of the older kinds of namespaces, which has the parts in other folders, too
/// (packaging.python.org, "Packaging namespace packages").
bool is_shared_namespace(const std::string& file) {
  if (!file.ends_with("/__init__.py")) return false;
  const auto text = installer::read_file(file, largest_namespace_file);
  return text && (text->contains("extend_path") || text->contains("declare_namespace"));
}

/// Whether `folder` has a package or module of that name, which ends the search for the parts of a
/// namespace.
bool has_whole(const std::string& folder, const std::string& name,
               const std::vector<std::string>& suffixes) {
  const std::string place = folder + "/" + path_of_name(name);
  std::error_code error;
  if (fs::exists(place + "/__init__.py", error))
    return !is_shared_namespace(place + "/__init__.py");
  if (fs::exists(place + "/__init__.pyc", error) || fs::exists(place + ".py", error)) return true;
  return std::ranges::any_of(suffixes, [&](const std::string& suffix) {
    return fs::exists(place + "/__init__" + suffix, error) || fs::exists(place + suffix, error);
  });
}

/// Whether a program of an installed package makes the namespace of that name before any import, so
/// that no whole package comes before it: setuptools' older kind.
bool is_made_at_start(const std::string& folder, const std::string& name) {
  std::string words;
  for (const char c : name) words += c == '.' ? std::string("', '") : std::string(1, c);
  words = name.contains('.') ? "*('" + words + "')" : "*('" + words + "',)";
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string file = at->path().string();
    if (!file.ends_with("-nspkg.pth")) continue;
    const auto text = installer::read_file(file, largest_namespace_file);
    if (text && text->contains(words)) return true;
  }
  return false;
}

/// A module or package of an installed package that is in no other package: "numpy", and
/// "nvidia.cudnn" in a namespace that several share.
struct OwnModule {
  std::string name;
  std::string folder;  ///< on sys.path; empty: found by a finder, after all of sys.path
  std::string file;
  const InstalledPackageFiles* package;
};

std::vector<OwnModule> own_modules(const InstalledFiles& files) {
  std::vector<OwnModule> all;
  for (const InstalledPackageFiles& package : files.packages) {
    std::map<std::string, OwnModule> modules;
    for (const ImportName& name : import_names(package)) {
      OwnModule own{name.name, package.site, package.site + "/" + name.path, &package};
      if (name.by != ImportName::By::record) own.file = name.path;
      if (name.by == ImportName::By::finder) own.folder.clear();
      if (name.by == ImportName::By::pth_folder) {
        // Of a source tree the rest is not for others: noxfile.py, tasks.py.
        if (wheel::normalize_name(name.name) != package.distribution.name) continue;
        own.folder = folder_of_module(name.path);
      }
      modules.try_emplace(own.name, std::move(own));
    }
    std::set<std::string> whole;
    for (const auto& [name, module] : modules) {
      bool inner = false;
      for (std::size_t dot = name.find('.'); dot != std::string::npos;
           dot = name.find('.', dot + 1))
        inner = inner || whole.contains(name.substr(0, dot));
      if (inner || is_shared_namespace(module.file)) continue;
      whole.insert(name);
      all.push_back(module);
    }
  }
  return all;
}

/// What comes before on sys.path without belonging to the environment.
bool is_intruder(const SearchFolder& folder) {
  return folder.by != By::standard_library && folder.by != By::site;
}

}  // namespace

HiddenModules::HiddenModules(const InstalledFiles& files, const SearchPath& path,
                             Findings& findings)
    : path_(path), findings_(findings) {
  for (const SearchFolder& folder : path.folders) real_.push_back(real_path(folder.path));
  for (const OwnModule& own : own_modules(files)) {
    auto place = real_.end();
    if (!own.folder.empty()) {
      place = std::ranges::find(real_, real_path(own.folder));
      if (place == real_.end()) continue;
    }
    find({own.name, "", own.file, own.package, static_cast<std::size_t>(place - real_.begin())},
         own.folder);
  }
  for (const std::string& name : path.standard_modules) find_standard(name);
}

bool HiddenModules::hides(const std::string& folder) const {
  const std::string real = real_path(plain_path(folder));
  return std::ranges::any_of(hiders_, [&](std::size_t place) { return real_[place] == real; });
}

const ImportName* HiddenModules::module_at(std::size_t place, const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const std::string inside = dot == std::string::npos ? std::string() : name.substr(0, dot);
  const auto [at, fresh] = modules_.try_emplace({place, inside});
  Modules& modules = at->second;
  if (fresh) {
    const std::string folder =
        path_.folders[place].path + (inside.empty() ? "" : "/" + path_of_name(inside));
    std::error_code error;
    std::vector<ImportName> found;
    if (fs::is_directory(folder, error)) {
      found = modules_in(folder, path_.suffixes);
    } else if (auto archived = modules_in_archive(folder)) {
      found = *std::move(archived);
    } else if (archived.error().kind != ErrorKind::not_found) {
      findings_.not_looked_at("which modules are in " + folder + ": " + archived.error().message);
    }
    for (ImportName& module : found) {
      const auto [known, first] = modules.try_emplace(module.name, module);
      if (!first && module.rank < known->second.rank) known->second = std::move(module);
    }
  }
  const auto module = modules.find(std::string_view(name).substr(dot + 1));  // npos + 1 is 0
  return module == modules.end() ? nullptr : &module->second;
}

void HiddenModules::find_standard(const std::string& name) {
  for (std::size_t i = 0; i < path_.folders.size(); ++i) {
    if (path_.folders[i].by != By::standard_library) continue;
    if (const ImportName* own = module_at(i, name))
      return find({name, "", own->path, nullptr, i}, path_.folders[i].path);
  }
}

/// From the outermost package inwards: where no folder has it as a whole, each has a part of it,
/// and the search goes on in these parts, in the same order.
void HiddenModules::find(HiddenModule module, const std::string& folder) {
  if (is_name_of_trees(module.name)) return;
  const std::string real = folder.empty() ? std::string() : real_path(folder);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < path_.folders.size(); ++i) {
    if (is_intruder(path_.folders[i]) && real_[i] != real) places.push_back(i);
  }
  const std::string full = module.name;
  for (std::size_t end = full.find('.'); !places.empty(); end = full.find('.', end + 1)) {
    const bool innermost = end == std::string::npos;
    const std::string name = full.substr(0, end);
    const bool others_whole = std::ranges::any_of(places, [&](std::size_t i) {
      const ImportName* other = module_at(i, name);
      return other != nullptr && !is_shared_namespace(other->path);
    });
    if (others_whole && !innermost && !folder.empty() && is_made_at_start(folder, name)) break;
    // A whole package comes before parts, even those in folders before it.
    const bool whole = innermost || (!folder.empty() && has_whole(folder, name, path_.suffixes));
    std::vector<std::size_t> parts;
    for (const std::size_t i : places) {
      const ImportName* other = module_at(i, name);
      if (other == nullptr || (!innermost && is_shared_namespace(other->path))) {
        std::error_code error;
        if (fs::is_directory(path_.folders[i].path + "/" + path_of_name(name), error))
          parts.push_back(i);
        continue;
      }
      if (whole && i > module.place) continue;
      // Loaded when the current folder is put on the path.
      if (path_.folders[i].by == By::current_folder && name == "encodings") continue;
      if (innermost && real_path(other->path) == real_path(module.own)) break;
      if (module.hiders.empty()) {
        module.name = name;
        module.file = other->path;
      }
      module.hiders.push_back(i);
    }
    if (whole) break;
    places = std::move(parts);
  }
  if (!module.hiders.empty()) keep(std::move(module));
}

void HiddenModules::keep(HiddenModule module) {
  hiders_.insert(module.hiders.begin(), module.hiders.end());
  std::vector<HiddenModule>& together = hidden_[finding_place(module.hiders.front())];
  const auto known = std::ranges::find_if(together, [&](const HiddenModule& one) {
    return one.package == module.package && one.name == module.name;
  });
  if (known == together.end()) return together.push_back(std::move(module));
  for (const std::size_t place : module.hiders) {
    if (std::ranges::find(known->hiders, place) == known->hiders.end())
      known->hiders.push_back(place);
  }
}

std::size_t HiddenModules::finding_place(std::size_t place) const {
  const SearchFolder& folder = path_.folders[place];
  if (folder.by != By::pth) return place;
  const auto same = std::ranges::find_if(path_.folders, [&](const SearchFolder& one) {
    return one.by == By::pth && one.file == folder.file;
  });
  return static_cast<std::size_t>(same - path_.folders.begin());
}

}  // namespace axle::doctor
