#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "wheel/requirement.h"

namespace axle::doctor {

namespace {

namespace fs = std::filesystem;

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

/// Where the loader finds another library of that name, and why.
struct Foreign {
  enum class By { preload, system_preload, library_path, cache } by;
  std::string path;
};

/// The version in a library's real file name: "libcudnn.so.9.1.0"; otherwise its own name.
std::string real_name(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? file_name(path) : real.filename().string();
}

bool is_same_file(const std::string& left, const std::string& right) {
  std::error_code error;
  return fs::equivalent(left, right, error) && !error;
}

/// The loader only skips files of another class or architecture; a file that is not ELF makes it
/// fail.
bool is_passed_over(const std::string& file, const InstalledLibrary& own) {
  const auto facts = binaries::scan_binary_file(file);
  if (!facts) return facts.error().kind == ErrorKind::unsupported;
  return !own.facts.architecture.empty() && facts->architecture != own.facts.architecture;
}

/// In a folder of LD_LIBRARY_PATH; those for CPU levels come first. Empty: not found.
std::string find_in(const std::string& folder, const std::string& name,
                    const InstalledLibrary& own) {
  for (const std::string_view level :
       {"/glibc-hwcaps/x86-64-v4/", "/glibc-hwcaps/x86-64-v3/", "/glibc-hwcaps/x86-64-v2/", "/"}) {
    std::string candidate = fmt::format("{}{}{}", folder, level, name);
    std::error_code error;
    if (fs::exists(candidate, error) && !is_passed_over(candidate, own)) return candidate;
  }
  return {};
}

std::vector<Foreign> foreign_of(const std::string& name, const InstalledLibrary& own,
                                const LoaderPath& path) {
  std::vector<Foreign> found;
  const auto add = [&](Foreign::By by, const std::string& file) {
    if (!is_same_file(file, own.path)) found.push_back({by, file});
  };
  for (const std::string& file : path.preload) {
    if (file_name(file) == name) add(Foreign::By::preload, file);
  }
  for (const std::string& file : path.system_preload) {
    if (file_name(file) == name) add(Foreign::By::system_preload, file);
  }
  for (const std::string& folder : path.folders) {
    const std::string candidate = find_in(folder, name, own);
    if (candidate.empty()) continue;
    add(Foreign::By::library_path, candidate);
    break;
  }
  for (const std::string& file : path.cached) {
    if (file_name(file) != name || is_passed_over(file, own)) continue;
    add(Foreign::By::cache, file);
    break;
  }
  return found;
}

/// Whether the folders of `needer`'s own path contain `own`: $ORIGIN is the needer's folder.
bool leads_to(const std::vector<std::string>& folders, const InstalledLibrary& needer,
              const InstalledLibrary& own) {
  const std::string origin = needer.path.substr(0, needer.path.rfind('/'));
  return std::ranges::any_of(folders, [&](std::string folder) {
    for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
      const std::size_t at = folder.find(word);
      if (at != std::string::npos) folder.replace(at, word.size(), origin);
    }
    return is_same_file(folder + "/" + file_name(own.path), own.path) ||
           is_same_file(folder + "/" + own.facts.soname, own.path);
  });
}

/// ld.so(8): preloaded, DT_RPATH (without DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH, cache.
bool foreign_wins(Foreign::By by, const InstalledLibrary& needer, const InstalledLibrary& own) {
  if (by == Foreign::By::preload || by == Foreign::By::system_preload) return true;
  const bool has_runpath = !needer.facts.runpath.empty();
  if (!has_runpath && leads_to(needer.facts.rpath, needer, own)) return false;
  if (by == Foreign::By::library_path) return true;
  return !(has_runpath && leads_to(needer.facts.runpath, needer, own));
}

/// What the packages require, directly or by others, whatever the extra.
class RequiredPackages {
 public:
  explicit RequiredPackages(const InstalledFiles& files) : files_(files) {
    for (std::size_t i = 0; i < files.packages.size(); ++i)
      places_.emplace(files.packages[i].distribution.name, i);
  }

  [[nodiscard]] const std::set<std::size_t>& of(std::size_t package) {
    const auto [known, fresh] = required_.try_emplace(package);
    if (!fresh) return known->second;
    std::vector<std::size_t> open = {package};
    while (!open.empty()) {
      const auto& metadata = files_.packages[open.back()].distribution.metadata;
      open.pop_back();
      for (const wheel::Requirement& requirement : metadata.requires_dist) {
        const auto place = places_.find(wheel::normalize_name(requirement.name));
        if (place != places_.end() && known->second.insert(place->second).second)
          open.push_back(place->second);
      }
    }
    return known->second;
  }

 private:
  const InstalledFiles& files_;
  std::map<std::string, std::size_t> places_;  ///< by name
  std::map<std::size_t, std::set<std::size_t>> required_;
};

std::string_view render_by(Foreign::By by) {
  switch (by) {
    case Foreign::By::preload:
      return "LD_PRELOAD";
    case Foreign::By::system_preload:
      return "/etc/ld.so.preload";
    case Foreign::By::library_path:
      return "LD_LIBRARY_PATH";
    case Foreign::By::cache:
      return "/etc/ld.so.cache";
  }
  return "";
}

/// A library of the environment that another one of its name replaces, or would.
struct Shadow {
  const InstalledLibrary* own;
  Foreign foreign;
  std::vector<const InstalledLibrary*> betrayed;  ///< that are linked against it
  bool takes_place = false;
};

/// The items removed from the variables for all shadows: the command for one must not restore
/// another.
Hint hint_of(const Shadow& shadow, const std::vector<Shadow>& all, const LoaderPath& path) {
  const auto any = [&](Foreign::By by, const auto& is) {
    return std::ranges::any_of(
        all, [&](const Shadow& one) { return one.takes_place && one.foreign.by == by && is(one); });
  };
  const std::string folder = shadow.foreign.path.substr(0, shadow.foreign.path.rfind('/'));
  switch (shadow.foreign.by) {
    case Foreign::By::preload:
      return {"", {variable_without("LD_PRELOAD", path.preload, [&](const std::string& file) {
                return any(Foreign::By::preload,
                           [&](const Shadow& one) { return one.foreign.path == file; });
              })}};
    case Foreign::By::system_preload:
      return {fmt::format("remove {} from /etc/ld.so.preload", shadow.foreign.path)};
    case Foreign::By::library_path:
      return {"", {variable_without("LD_LIBRARY_PATH", path.folders, [&](const std::string& item) {
                return any(Foreign::By::library_path, [&](const Shadow& one) {
                  const std::string found = find_in(item, one.own->facts.soname, *one.own);
                  return !found.empty() && !is_same_file(found, one.own->path);
                });
              })}};
    case Foreign::By::cache:
      return {fmt::format("remove {} from /etc/ld.so.conf.d, then run sudo ldconfig", folder)};
  }
  return {};
}

using Needers = std::map<std::string, std::vector<const InstalledLibrary*>, std::less<>>;

Needers needers_of(const InstalledFiles& files) {
  Needers needers;
  for (const InstalledLibrary& library : files.libraries) {
    for (const std::string& name : library.facts.needed) needers[name].push_back(&library);
  }
  return needers;
}

/// `needer` gets the foreign library in the place of `own`. One without a path to `own` means it
/// only if its package requires that of `own` or is the same: else it means the system's. And it
/// gets `own` where a package that it requires, and so imports before, has loaded that.
bool is_betrayed(const InstalledLibrary& needer, const InstalledLibrary& own, Foreign::By by,
                 const std::vector<const InstalledLibrary*>& needers, RequiredPackages& required) {
  if (!foreign_wins(by, needer, own)) return false;
  const auto has_path = [&](const InstalledLibrary& one) {
    const binaries::BinaryFacts& facts = one.facts;
    return leads_to(facts.runpath.empty() ? facts.rpath : facts.runpath, one, own);
  };
  if (needer.package == own.package || has_path(needer)) return true;
  const std::set<std::size_t>& packages = required.of(needer.package);
  if (!packages.contains(own.package)) return false;
  return std::ranges::none_of(needers, [&](const InstalledLibrary* one) {
    return one->package != needer.package && packages.contains(one->package) && has_path(*one) &&
           !foreign_wins(by, *one, own);
  });
}

Shadow judge(const InstalledLibrary& own, const Foreign& foreign, const Needers& needers,
             RequiredPackages& required) {
  Shadow shadow{&own, foreign, {}, false};
  const auto found = needers.find(own.facts.soname);
  if (found != needers.end()) {
    for (const InstalledLibrary* needer : found->second) {
      if (is_betrayed(*needer, own, foreign.by, found->second, required))
        shadow.betrayed.push_back(needer);
    }
  }
  // A library that none needs is opened by name at run time (cuDNN's parts), in the same order of
  // the loader.
  const bool opened = found == needers.end() && foreign.by != Foreign::By::cache;
  shadow.takes_place = !shadow.betrayed.empty() || opened;
  return shadow;
}

void say_shadow(const InstalledFiles& files, const Shadow& shadow, const std::vector<Shadow>& all,
                const LoaderPath& path, Findings& findings) {
  const InstalledLibrary& own = *shadow.own;
  const Foreign& foreign = shadow.foreign;
  const std::string& name = own.facts.soname;
  if (!shadow.takes_place && foreign.by == Foreign::By::cache) return;
  const InstalledPackageFiles& package = files.packages[own.package];
  Finding& finding = findings.add(
      shadow.takes_place ? "library-shadowed" : "library-elsewhere",
      fmt::format("{} of {}", name, package.title),
      shadow.takes_place
          ? fmt::format("{} is loaded from {} ({}) instead of the wheel's own ({})", name,
                        foreign.path, real_name(foreign.path), own.name)
          : fmt::format("{} is also at {}, but libraries that need it find the wheel's own first",
                        name, foreign.path));
  finding.evidence.push_back(
      {foreign.path, std::string(render_by(foreign.by)), real_name(foreign.path)});
  finding.evidence.push_back({own.name, "", package.title});
  for (const InstalledLibrary* needer : shadow.betrayed) {
    if (finding.evidence.size() == most_examples) break;
    finding.evidence.push_back(
        {needer->name, ".dynamic",
         fmt::format("needs {}, and {}", name,
                     !needer->facts.runpath.empty() ? "its RUNPATH comes after LD_LIBRARY_PATH"
                                                    : "has no path of its own to it")});
  }
  if (shadow.takes_place) finding.hint = hint_of(shadow, all, path);
}

bool is_cuda_library(std::string_view soname) {
  constexpr std::string_view names[] = {
      "libcublas",      "libcublasLt",   "libcudart",   "libcufft",    "libcufftw",
      "libcufile",      "libcupti",      "libcurand",   "libcusolver", "libcusolverMg",
      "libcusparse",    "libcusparseLt", "libcutensor", "libnccl",     "libnvJitLink",
      "libnvToolsExt",  "libnvinfer",    "libnvjpeg",   "libnvrtc",    "libnvrtc-builtins",
      "libnvshmem_host"};
  const std::string_view name = soname.substr(0, soname.find(".so"));
  return name == "libcudnn" || name.starts_with("libcudnn_") ||
         std::ranges::find(names, name) != std::end(names);
}

/// Whether DT_NEEDED of some library refers to this copy. A library that is only opened by its path
/// is independent of others with its name.
bool is_linked(const InstalledLibrary& copy, const Needers& needers) {
  const auto found = needers.find(copy.facts.soname);
  if (found == needers.end()) return false;
  return std::ranges::any_of(found->second, [&](const InstalledLibrary* needer) {
    const binaries::BinaryFacts& facts = needer->facts;
    if (needer->package == copy.package) return true;
    if (facts.rpath.empty() && facts.runpath.empty()) return true;
    return leads_to(facts.runpath.empty() ? facts.rpath : facts.runpath, *needer, copy);
  });
}

void say_twice(const InstalledLibrary& one, const InstalledLibrary& other,
               const InstalledFiles& files, Findings& findings) {
  const InstalledPackageFiles& first = files.packages[one.package];
  const InstalledPackageFiles& second = files.packages[other.package];
  Finding& finding = findings.add(
      "library-twice", fmt::format("{} of {} and {}", one.facts.soname, first.title, second.title),
      "a process loads one library of that name for all that are linked against it");
  finding.evidence.push_back({one.name, "SONAME", first.title});
  finding.evidence.push_back({other.name, "SONAME", second.title});
  finding.hint =
      fmt::format("install versions of the two for the same {}, or use them in separate processes",
                  one.facts.soname);
}

}  // namespace

void check_twice(const InstalledFiles& files, Findings& findings) {
  std::map<std::string, std::map<std::size_t, std::vector<const InstalledLibrary*>>> copies;
  for (const InstalledLibrary& library : files.libraries) {
    if (is_cuda_library(library.facts.soname))
      copies[library.facts.soname][library.package].push_back(&library);
  }
  std::erase_if(copies, [](const auto& one) { return one.second.size() < 2; });
  if (copies.empty()) return;
  const Needers needers = needers_of(files);
  for (const auto& [soname, packages] : copies) {
    const InstalledLibrary* first = nullptr;
    for (const auto& [package, libraries] : packages) {
      const auto linked = std::ranges::find_if(
          libraries, [&](const InstalledLibrary* copy) { return is_linked(*copy, needers); });
      if (linked == libraries.end()) continue;
      if (first == nullptr) {
        first = *linked;
      } else if (first->facts.size != (*linked)->facts.size) {
        say_twice(*first, **linked, files, findings);
      }
    }
  }
}

void check_shadows(const InstalledFiles& files, const LoaderPath& path, Findings& findings) {
  const Needers needers = needers_of(files);
  RequiredPackages required(files);
  std::map<std::string, std::size_t> seen;
  std::vector<Shadow> shadows;
  for (const InstalledLibrary& own : files.libraries) {
    if (own.facts.soname.empty() || ++seen[own.facts.soname] > 1) continue;
    for (const Foreign& foreign : foreign_of(own.facts.soname, own, path))
      shadows.push_back(judge(own, foreign, needers, required));
  }
  for (const Shadow& shadow : shadows) say_shadow(files, shadow, shadows, path, findings);
}

}  // namespace axle::doctor
