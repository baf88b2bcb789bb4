// Packages for several GPU backends in one environment, or for several versions of one.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "foundation/system/shell_command.h"
#include "index/family/alternatives.h"
#include "resolver/family/gpu_platform.h"
#include "resolver/family/stand_ins.h"

namespace axle::doctor {

namespace {

using index::AlternativeMember;
using index::Alternatives;

/// "CUDA 12", and what says so.
struct PackagePlatform {
  std::string name;
  Evidence evidence;
};

const index::FamilyLabel* family_label(const InstalledPackageFiles& package) {
  if (package.family == nullptr) return nullptr;
  const std::string local = index::local_label(package.distribution.metadata.version);
  return package.family->label(package.distribution.variant.value_or(local));
}

/// The libraries of a toolkit in wheels of their own: nobody imports them.
bool is_runtime_wheel(const InstalledPackageFiles& package) {
  const std::string& name = package.distribution.name;
  return name.starts_with("nvidia-") || name.starts_with("cuda-toolkit") ||
         name.starts_with("rocm-sdk-");
}

/// "CUDA 13" of a wheel whose name does not say it (since CUDA 13: nvidia-cufft), by its folder
/// nvidia/cu13.
std::string cuda_of_runtime(const InstalledPackageFiles& package,
                            std::span<const InstalledLibrary* const> libraries) {
  constexpr std::string_view folder = "nvidia/cu";
  if (!is_runtime_wheel(package) || libraries.empty()) return {};
  const std::string_view path = libraries.front()->name;
  if (!path.starts_with(folder)) return {};
  const std::string_view rest = path.substr(folder.size());
  const std::string_view major = rest.substr(0, rest.find('/'));
  const bool digits =
      major.size() == 2 && std::ranges::all_of(major, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? fmt::format("CUDA {}", major) : std::string();
}

/// By its name, version and label, else by what its libraries need, else by a name or version that
/// says the backend and no version of it. A package with libraries for several chooses among them
/// itself.
std::optional<PackagePlatform> platform_of_package(
    const InstalledPackageFiles& package, std::span<const InstalledLibrary* const> libraries) {
  const auto& distribution = package.distribution;
  std::string platform = resolver::gpu_platform(distribution.name, distribution.metadata.version,
                                                family_label(package));
  if (!platform.empty())
    return PackagePlatform{platform,
                           {"", "", fmt::format("{} is for {}", package.title, platform)}};
  if (std::string cuda = cuda_of_runtime(package, libraries); !cuda.empty())
    return PackagePlatform{
        cuda, {libraries.front()->name, "", fmt::format("{} is for {}", package.title, cuda)}};
  std::optional<PackagePlatform> found;
  for (const InstalledLibrary* library : libraries) {
    for (const std::string& needed : library->facts.needed) {
      platform = resolver::gpu_platform_of_library(needed);
      if (platform.empty()) continue;
      if (found && found->name != platform) return std::nullopt;
      if (!found)
        found = {platform,
                 {library->name, ".dynamic", fmt::format("{} needs {}", package.title, needed)}};
    }
  }
  if (found) return found;
  // Documents and tools have the words in their names, too.
  platform = resolver::gpu_backend(libraries.empty() ? std::string_view() : distribution.name,
                                   distribution.metadata.version);
  if (platform.empty() || is_runtime_wheel(package) || family_label(package) != nullptr)
    return std::nullopt;
  return PackagePlatform{platform, {"", "", fmt::format("{} is for {}", package.title, platform)}};
}

struct BackendPackage {
  const InstalledPackageFiles* package;
  Evidence evidence;
};
using Backends = std::map<std::string, std::vector<BackendPackage>>;

/// Runtime wheels that only each other require, and that nobody asked for.
Packages unused_runtime(const std::vector<BackendPackage>& backend, const InstalledFiles& files) {
  Packages unused;
  for (const BackendPackage& one : backend) {
    if (is_runtime_wheel(*one.package) && !one.package->distribution.requested)
      unused.push_back(one.package);
  }
  for (bool changed = true; changed;) {
    changed = std::erase_if(unused, [&](const InstalledPackageFiles* one) {
                return is_required(*one, unused, files);
              }) > 0;
  }
  return unused;
}

/// What is for "ROCm" goes with each version of it: with the one that most packages are for.
void join_unnumbered(Backends& backends, const InstalledFiles& files) {
  for (const char* backend : {"CUDA", "ROCm"}) {
    const auto own = backends.find(backend);
    if (own == backends.end()) continue;
    auto main = own;
    std::size_t most = 0;
    // Sorted by name: "CUDA", "CUDA 12", "CUDA 13".
    for (auto at = std::next(own); at != backends.end() && at->first.starts_with(backend); ++at) {
      const std::size_t used = at->second.size() - unused_runtime(at->second, files).size();
      if (main != own && used < most) continue;
      main = at;
      most = used;
    }
    if (main == own) continue;
    std::ranges::move(own->second, std::back_inserter(main->second));
    backends.erase(own);
  }
}

Backends backends_of(const InstalledFiles& files) {
  std::map<std::size_t, std::vector<const InstalledLibrary*>> libraries;
  for (const InstalledLibrary& library : files.libraries)
    libraries[library.package].push_back(&library);
  Backends backends;
  for (std::size_t i = 0; i < files.packages.size(); ++i) {
    if (auto platform = platform_of_package(files.packages[i], libraries[i]))
      backends[platform->name].push_back({&files.packages[i], std::move(platform->evidence)});
  }
  join_unnumbered(backends, files);
  return backends;
}

std::string titles_of(const Packages& packages) {
  std::vector<std::string> titles;
  for (const InstalledPackageFiles* one : packages) titles.push_back(one->title);
  const std::size_t shown = std::min(titles.size(), most_examples);
  return fmt::format(
      "{}{}", fmt::join(titles.begin(), titles.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      titles.size() > shown ? fmt::format(" and {} more", titles.size() - shown) : "");
}

bool has_gpu_for(std::string_view platform, const JudgedMachine& judged) {
  return std::ranges::any_of(judged.machine.gpus, [&](const detect::Gpu& gpu) {
    return resolver::is_platform_of(platform, gpu.vendor) && !judged.counted(gpu.vendor).empty();
  });
}

/// The backend that the others should have: that of the first member of a family, else one that the
/// machine has a GPU for, else that of most packages; of several, the newest.
std::string main_backend(const Backends& backends, const JudgedMachine& judged) {
  std::string main;
  std::pair<bool, std::size_t> most;
  for (const auto& [name, packages] : backends) {
    for (const BackendPackage& one : packages) {
      const index::Family* family = one.package->family;
      if (family != nullptr && one.package->distribution.name == family->anchor()) return name;
    }
    const std::pair weight{has_gpu_for(name, judged), packages.size()};
    if (weight >= most) {
      most = weight;
      main = name;
    }
  }
  return main;
}

/// The one to show of a backend: the first member of a family, else one that programs import.
const BackendPackage& leading(const std::vector<BackendPackage>& packages) {
  const auto rank = [](const BackendPackage& one) {
    const index::Family* family = one.package->family;
    const bool anchor = family != nullptr && one.package->distribution.name == family->anchor();
    return anchor ? 0 : is_runtime_wheel(*one.package) ? 2 : 1;
  };
  return *std::ranges::min_element(packages, {}, rank);
}

/// Another distribution of the same project for that backend, or one that goes with any; empty:
/// none is known.
std::string sibling_for(const InstalledPackageFiles& package, const std::string& backend,
                        const JudgedMachine& judged) {
  const Alternatives* group = index::alternatives_of(package.distribution.name);
  if (group == nullptr) return {};
  const auto find = [&](auto fits) {
    const auto at = std::ranges::find_if(group->members, fits);
    return at == group->members.end() ? std::string() : at->project;
  };
  const auto is_for_it = [&](const AlternativeMember& member) {
    const std::string platform = resolver::gpu_platform_of_name(member.project);
    return platform == backend || platform.starts_with(backend + " ");
  };
  std::string sibling = find(is_for_it);
  // onnxruntime-gpu has no number; the machine's GPU is what it is for.
  if (sibling.empty() && has_gpu_for(backend, judged))
    sibling = find([&](const AlternativeMember& member) {
      return !member.needs.empty() && member.project != package.distribution.name &&
             resolver::gpu_platform_of_name(member.project).empty() &&
             resolver::suits_machine(member, judged.machine, judged.gpus);
    });
  if (sibling.empty())
    sibling = find([&](const AlternativeMember& member) {
      return member.needs.empty() && member.project != package.distribution.name;
    });
  return sibling;
}

/// Exchanges those that are there for the other backend under another name.
Hint for_main_backend(const Packages& packages, const std::string& main,
                      const JudgedMachine& judged, const InstalledFiles& files) {
  Hint hint;
  Packages rest;
  for (const InstalledPackageFiles* package : packages) {
    const std::string sibling = sibling_for(*package, main, judged);
    if (sibling.empty()) {
      rest.push_back(package);
      continue;
    }
    hint.commands.push_back(shell_command(std::vector<std::string>{
                                "variant", "install", "--allow-backend-change", sibling}) +
                            files.python_option());
  }
  if (rest.empty()) return hint;
  // Half of it would not end the finding.
  return {
      fmt::format("install builds of {} for {}, or the rest for theirs", titles_of(rest), main)};
}

void say_unused_runtime(const std::string& backend, const Packages& unused,
                        const InstalledFiles& files, Findings& findings) {
  Finding& finding = findings.add(
      "backends-mixed", titles_of(unused),
      fmt::format("libraries of {} that no installed package needs, beside those of another one",
                  backend));
  for (const InstalledPackageFiles* one : unused) {
    if (finding.evidence.size() == most_examples) break;
    finding.evidence.push_back(
        {one->distribution.dist_info, "", fmt::format("{}: nothing requires it", one->title)});
  }
  finding.hint = {"", {uninstall_command(unused, files)}};
}

/// Members of the family of the main backend have findings of their own, and so has what does not
/// find the libraries that it was linked with.
bool is_told_elsewhere(const BackendPackage& one, const std::vector<BackendPackage>& main,
                       const Findings& findings) {
  const bool misfit = std::ranges::any_of(findings.all(), [&](const Finding& finding) {
    return finding.code == "abi-misfit" && finding.subject == one.package->title;
  });
  if (misfit) return true;
  return one.package->family != nullptr &&
         std::ranges::any_of(main, [&](const BackendPackage& other) {
           return other.package->family == one.package->family;
         });
}

/// By backend, the runtime wheels that nothing needs, beside another backend.
std::map<std::string, Packages> unused_by_backend(const Backends& backends,
                                                  const JudgedMachine& judged,
                                                  const InstalledFiles& files) {
  std::map<std::string, Packages> unused;
  if (backends.size() < 2) return unused;
  const std::string main = main_backend(backends, judged);
  bool any_used = false;
  for (const auto& [name, packages] : backends) {
    unused[name] = unused_runtime(packages, files);
    any_used = any_used || unused[name].size() < packages.size();
  }
  // Where nobody needs any, one of them is what programs open.
  if (!any_used) unused[main].clear();
  std::erase_if(unused, [](const auto& one) { return one.second.empty(); });
  return unused;
}

/// `told`: packages that have a finding of their own.
void check_platforms(const InstalledFiles& files, const JudgedMachine& judged, const Packages& told,
                     Findings& findings) {
  Backends backends = backends_of(files);
  for (auto& [name, packages] : backends) {
    std::erase_if(packages, [&](const BackendPackage& one) {
      return std::ranges::find(told, one.package) != told.end();
    });
  }
  std::erase_if(backends, [](const auto& one) { return one.second.empty(); });
  for (const auto& [name, unused] : unused_by_backend(backends, judged, files)) {
    say_unused_runtime(name, unused, files, findings);
    std::erase_if(backends[name], [&](const BackendPackage& one) {
      return std::ranges::find(unused, one.package) != unused.end();
    });
  }
  std::erase_if(backends, [](const auto& one) { return one.second.empty(); });
  if (backends.size() < 2) return;
  const std::string main = main_backend(backends, judged);
  for (const auto& [name, packages] : backends) {
    if (name == main) continue;
    const std::vector<BackendPackage>& others = backends.at(main);
    Packages users;
    std::vector<Evidence> evidence = {leading(others).evidence};
    for (const BackendPackage& one : packages) {
      if (is_runtime_wheel(*one.package) || is_told_elsewhere(one, others, findings)) continue;
      users.push_back(one.package);
      if (evidence.size() < most_examples) evidence.push_back(one.evidence);
    }
    if (users.empty()) continue;
    Finding& finding =
        findings.add("backends-mixed", titles_of(users),
                     fmt::format("for {}, and other packages of this environment for {}: one "
                                 "process loads the libraries of both",
                                 name, main));
    finding.evidence = std::move(evidence);
    finding.hint = for_main_backend(users, main, judged, files);
  }
}

/// The distributions of one group that are for unlike machines.
std::map<const Alternatives*, Packages> split_projects(const InstalledFiles& files) {
  std::map<const Alternatives*, Packages> split;
  for (const InstalledPackageFiles& package : files.packages) {
    if (const Alternatives* group = index::alternatives_of(package.distribution.name))
      split[group].push_back(&package);
  }
  std::erase_if(split, [](const auto& one) {
    return one.second.size() < 2 || !are_backends_of_one(*one.second[0], *one.second[1]);
  });
  return split;
}

const AlternativeMember* member_of_group(const Alternatives& group, const std::string& project) {
  const auto member = std::ranges::find(group.members, project, &AlternativeMember::project);
  return member == group.members.end() ? nullptr : &*member;
}

/// One that is made for this machine, and that the rest of the environment goes with; else one that
/// is made for any; else the group's first.
const InstalledPackageFiles* best_of(const Alternatives& group, const Packages& packages,
                                     const std::string& main, const JudgedMachine& judged) {
  enum Fit : std::uint8_t { made_for_it, made_for_any, made_for_others };
  const auto score = [&](const InstalledPackageFiles* package) {
    const std::string& name = package->distribution.name;
    const AlternativeMember* member = member_of_group(group, name);
    Fit fit = made_for_others;
    if (member != nullptr && resolver::suits_machine(*member, judged.machine, judged.gpus))
      fit = member->needs.empty() ? made_for_any : made_for_it;
    const auto place = member == nullptr ? group.members.size()
                                         : static_cast<std::size_t>(member - group.members.data());
    return std::tuple(fit, resolver::gpu_platform_of_name(name) != main, place);
  };
  return *std::ranges::min_element(packages, {}, score);
}

/// Returns those that should go.
Packages check_split_projects(const InstalledFiles& files, const JudgedMachine& judged,
                              Findings& findings) {
  const auto split = split_projects(files);
  if (split.empty()) return {};
  Packages going;
  Backends rest = backends_of(files);
  for (auto& [name, packages] : rest) {
    std::erase_if(packages, [](const BackendPackage& one) {
      return index::alternatives_of(one.package->distribution.name) != nullptr;
    });
  }
  std::erase_if(rest, [](const auto& one) { return one.second.empty(); });
  const std::string main = main_backend(rest, judged);
  for (const auto& [group, packages] : split) {
    const InstalledPackageFiles* best = best_of(*group, packages, main, judged);
    for (const InstalledPackageFiles* other : packages) {
      if (other == best) continue;
      going.push_back(other);
      Finding& finding = findings.add(
          "backends-mixed", fmt::format("{}, {}", best->title, other->title),
          fmt::format("both install the modules {} for unlike backends: the last one installed "
                      "overwrote files of the other",
                      fmt::join(group->modules, ", ")));
      finding.level = FindingLevel::error;
      for (const InstalledPackageFiles* one : {best, other})
        finding.evidence.push_back(
            {one->distribution.dist_info, "", fmt::format("{} is installed", one->title)});
      // Nothing for another system is installed into an environment of this one.
      finding.hint = files.environment.tag_target.platforms.empty()
                         ? remove_one(*best, *other, /*restore=*/true, files)
                         : Hint(fmt::format("create the environment again on that machine, with {} "
                                            "and without {}",
                                            best->distribution.name, other->distribution.name));
    }
  }
  return going;
}

}  // namespace

bool are_backends_of_one(const InstalledPackageFiles& first, const InstalledPackageFiles& second) {
  const Alternatives* group = index::alternatives_of(first.distribution.name);
  if (group == nullptr || group != index::alternatives_of(second.distribution.name)) return false;
  const AlternativeMember* one = member_of_group(*group, first.distribution.name);
  const AlternativeMember* other = member_of_group(*group, second.distribution.name);
  return one != nullptr && other != nullptr && one != other && one->needs != other->needs;
}

std::vector<const InstalledPackageFiles*> left_behind(const InstalledFiles& files,
                                                      const JudgedMachine& judged) {
  Packages all;
  for (const auto& [name, unused] : unused_by_backend(backends_of(files), judged, files))
    all.insert(all.end(), unused.begin(), unused.end());
  return all;
}

void check_backends(const InstalledFiles& files, const JudgedMachine& judged, Findings& findings) {
  const Packages told = check_split_projects(files, judged, findings);
  check_platforms(files, judged, told, findings);
}

}  // namespace axle::doctor
