#include "doctor/fixes.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "foundation/system/shell_command.h"
#include "index/http/url.h"
#include "installer/transaction/repair.h"
#include "session/direct_url.h"
#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::doctor {

namespace {

using installer::InstalledDistribution;

/// Packages that were built from a source tree or a repository (direct_url.json): whoever installed
/// them builds them again.
struct BuiltFrom {
  std::string place;  ///< a path or URL, or "git+https://…@COMMIT"
  bool editable = false;
};

struct Origin {
  std::string requirement;  ///< for `variant install`; empty: it was built
  std::optional<BuiltFrom> built;
};

/// If the wheel no longer exists, the index is searched.
bool is_there(const std::string& url) {
  std::error_code error;
  const auto path = index::file_path(url);
  return !path || std::filesystem::exists(*path, error);
}

Origin origin_of(const InstalledPackageFiles& package) {
  const InstalledDistribution& distribution = package.distribution;
  Origin origin{fmt::format("{}=={}", distribution.name,
                            wheel::render_version(distribution.metadata.version)),
                std::nullopt};
  const session::DirectUrl direct = session::read_direct_url(distribution.direct_url);
  // Its own wheel would not be installed again.
  if (direct.url.empty() || (package.foreign_wheel && direct.url.ends_with(".whl"))) return origin;
  const auto path = index::file_path(direct.url);
  if (direct.repository) {
    origin.built = BuiltFrom{fmt::format("{}+{}{}{}", direct.vcs, direct.url,
                                         direct.commit.empty() ? "" : "@", direct.commit)};
  } else if (direct.folder) {
    origin.built =
        BuiltFrom{path && direct.subdirectory.empty() ? *path : direct.url, direct.editable};
  } else if (is_there(direct.url)) {
    if (direct.url.ends_with(".whl")) {
      origin.requirement = fmt::format("{} @ {}", distribution.name, direct.url);
    } else {
      origin.built = BuiltFrom{path && direct.subdirectory.empty() ? *path : direct.url};
    }
  }
  if (origin.built && !direct.subdirectory.empty())
    origin.built->place += "#subdirectory=" + direct.subdirectory;
  return origin;
}

std::string build_command(const InstalledPackageFiles& package, const BuiltFrom& built,
                          const InstalledFiles& files) {
  std::vector<std::string> words;
  const bool ours = package.distribution.installer == "axle" && !files.elsewhere;
  if (ours) {
    words = {"variant", "install", "--reinstall", "--no-deps"};
  } else if (package.distribution.installer == "uv") {
    words = {"uv", "pip", "install", "--python", files.place(), "--reinstall", "--no-deps"};
  } else {
    // Without a RECORD pip cannot remove what is there.
    words = {"pip",         "--python",
             files.place(), "install",
             "--no-deps",   package.record_error ? "--ignore-installed" : "--force-reinstall"};
  }
  if (built.editable) words.emplace_back("-e");
  words.push_back(built.place);
  return shell_command(words) + (ours ? files.python_option() : std::string());
}

/// The option that keeps the build; empty if the version contains it, or there is only one.
std::vector<std::string> build_option(const InstalledPackageFiles& package) {
  const InstalledDistribution& distribution = package.distribution;
  const std::string local = index::local_label(distribution.metadata.version);
  if (distribution.variant && local != *distribution.variant)
    return {"--variant", fmt::format("{}={}", distribution.name, *distribution.variant)};
  if (!distribution.variant && package.family != nullptr && local.empty())
    return {fmt::format("--no-variants={}", distribution.name)};
  return {};
}

/// Why Axle cannot reinstall it; empty: it can.
std::string not_ours(const InstalledPackageFiles& package, const InstalledFiles& files) {
  if (files.environment.externally_managed)
    return fmt::format("reinstall {} with the operating system's package manager",
                       package.distribution.name);
  if (!installer::is_repairable(package.distribution) && !package.distribution.installer.empty())
    return fmt::format("reinstall {} with {}, which installed it", package.distribution.name,
                       package.distribution.installer);
  return {};
}

bool is_needed(const InstalledPackageFiles& package, const Packages& by,
               const InstalledFiles& files) {
  const wheel::MarkerEnvironment& markers = files.environment.markers;
  return std::ranges::any_of(by, [&](const InstalledPackageFiles* other) {
    return other != &package &&
           std::ranges::any_of(
               other->distribution.metadata.requires_dist,
               [&](const wheel::Requirement& requirement) {
                 return wheel::normalize_name(requirement.name) == package.distribution.name &&
                        (!requirement.marker || requirement.marker->evaluate(markers, ""));
               });
  });
}

Packages all_packages(const InstalledFiles& files) {
  Packages all;
  for (const InstalledPackageFiles& package : files.packages) all.push_back(&package);
  return all;
}

/// The members of its family, in the family's order; otherwise only the package.
Packages members_of(const InstalledPackageFiles& package, const InstalledFiles& files) {
  if (package.family == nullptr) return {&package};
  Packages members;
  for (const std::string& member : package.family->members) {
    const auto one = std::ranges::find_if(
        files.packages, [&](const auto& each) { return each.distribution.name == member; });
    if (one != files.packages.end()) members.push_back(&*one);
  }
  return members;
}

std::string choose_again(const Packages& members, const InstalledFiles& files) {
  std::vector<std::string> words = {"variant", "install", "--refit"};
  for (const InstalledPackageFiles* one : members) words.push_back(one->distribution.name);
  return shell_command(words) + files.python_option();
}

}  // namespace

Hint reinstall(const Packages& packages, const InstalledFiles& files) {
  Hint hint;
  std::vector<std::string> options;
  std::vector<std::string> requirements;
  for (const InstalledPackageFiles* package : packages) {
    if (std::string words = not_ours(*package, files); !words.empty()) {
      hint.words += (hint.words.empty() ? "" : "; ") + words;
      continue;
    }
    const Origin origin = origin_of(*package);
    if (origin.built) {
      hint.commands.push_back(build_command(*package, *origin.built, files));
    } else if (package->new_choice != NewChoice::same && !build_option(*package).empty()) {
      // A label that does not fit cannot be requested.
      hint.commands.push_back(another_build(*package, files).commands.front());
    } else {
      std::ranges::copy(build_option(*package), std::back_inserter(options));
      requirements.push_back(origin.requirement);
    }
  }
  if (requirements.empty()) return hint;
  std::vector<std::string> words = {"variant", "install", "--reinstall", "--no-deps"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), requirements.begin(), requirements.end());
  hint.commands.push_back(shell_command(words) + files.python_option());
  return hint;
}

std::string upgrade_command(const std::string& name, const wheel::Version& oldest,
                            const InstalledFiles& files) {
  const std::vector<std::string> words = {
      "variant", "install", fmt::format("{}>={}", name, wheel::render_version(oldest))};
  return shell_command(words) + files.python_option();
}

Hint another_build(const InstalledPackageFiles& package, const InstalledFiles& files) {
  if (package.new_choice == NewChoice::same)
    return {fmt::format("install a build of {} for this machine, if there is one",
                        package.distribution.name)};
  return {"", {choose_again(members_of(package, files), files)}};
}

Hint family_again(const InstalledPackageFiles& package, const InstalledFiles& files) {
  return {"", {choose_again(members_of(package, files), files)}};
}

Hint build_for_older_cpu(const InstalledPackageFiles& package, const InstalledFiles& files) {
  if (package.distribution.variant && package.distribution.family.empty() &&
      package.new_choice != NewChoice::same)
    return another_build(package, files);
  return {fmt::format("install a build of {} for an older CPU, if there is one",
                      package.distribution.name)};
}

Hint remove_one(const InstalledPackageFiles& first, const InstalledPackageFiles& second,
                bool restore, const InstalledFiles& files) {
  const Packages all = all_packages(files);
  const InstalledPackageFiles* stays = &first;
  const InstalledPackageFiles* goes = &second;
  if (is_needed(*goes, all, files)) std::swap(stays, goes);
  if (is_needed(*goes, all, files) || goes->record_error)
    return {
        fmt::format("they cannot both be intact in one environment: install versions that do not "
                    "overlap, or {} and {} in separate environments",
                    first.distribution.name, second.distribution.name)};
  if (const std::string words = not_ours(*goes, files); !words.empty())
    return {fmt::format("remove {} with the tool that installed it", goes->distribution.name)};
  Hint hint{"", {uninstall_command({goes}, files)}};
  if (restore) {
    Hint again = reinstall({stays}, files);
    hint.words = std::move(again.words);
    std::ranges::move(again.commands, std::back_inserter(hint.commands));
  }
  return hint;
}

Hint other_builds(const Packages& packages, const InstalledFiles& files) {
  Hint hint;
  Packages rebuilt;
  Packages rest;
  for (const InstalledPackageFiles* package : packages) {
    const bool other = package->has_builds() && package->new_choice != NewChoice::same;
    (other ? rebuilt : rest).push_back(package);
    if (!other) continue;
    std::string command = another_build(*package, files).commands.front();
    if (std::ranges::find(hint.commands, command) == hint.commands.end())
      hint.commands.push_back(std::move(command));
  }
  if (rebuilt.empty()) return hint;
  if (const Packages left = left_over(rest, rebuilt, files); !left.empty())
    hint.commands.push_back(uninstall_command(left, files));
  return hint;
}

bool is_required(const InstalledPackageFiles& package, const Packages& besides,
                 const InstalledFiles& files) {
  const auto applies = [&](const wheel::Requirement& requirement,
                           const wheel::CoreMetadata& metadata) {
    const wheel::MarkerEnvironment& markers = files.environment.markers;
    return !requirement.marker || requirement.marker->evaluate(markers, "") ||
           std::ranges::any_of(metadata.provides_extra, [&](const std::string& extra) {
             return requirement.marker->evaluate(markers, extra);
           });
  };
  return std::ranges::any_of(files.packages, [&](const InstalledPackageFiles& other) {
    if (&other == &package || std::ranges::find(besides, &other) != besides.end()) return false;
    const wheel::CoreMetadata& metadata = other.distribution.metadata;
    return std::ranges::any_of(metadata.requires_dist, [&](const wheel::Requirement& requirement) {
      return wheel::normalize_name(requirement.name) == package.distribution.name &&
             applies(requirement, metadata);
    });
  });
}

Packages left_over(const Packages& packages, const Packages& going, const InstalledFiles& files) {
  Packages left;
  std::ranges::copy_if(packages, std::back_inserter(left), [&](const auto* package) {
    return !package->distribution.requested && is_needed(*package, all_packages(files), files) &&
           std::ranges::find(going, package) == going.end();
  });
  // The dependencies of packages that stay are kept, recursively.
  for (bool changed = true; changed;) {
    Packages staying = all_packages(files);
    std::erase_if(staying, [&](const auto* one) {
      return std::ranges::find(left, one) != left.end() ||
             std::ranges::find(going, one) != going.end();
    });
    changed = std::erase_if(left, [&](const auto* package) {
                return is_needed(*package, staying, files);
              }) > 0;
  }
  return left;
}

std::string variable_without(std::string_view variable, const std::vector<std::string>& items,
                             const std::function<bool(const std::string&)>& leaves) {
  std::string rest;
  for (const std::string& item : items) {
    // An empty item is the working folder, an empty variable has none.
    if (!leaves(item)) rest += (rest.empty() ? "" : ":") + (item.empty() ? "." : item);
  }
  return rest.empty() ? fmt::format("unset {}", variable)
                      : fmt::format("export {}={}", variable, shell_word(rest));
}

std::string uninstall_command(const Packages& packages, const InstalledFiles& files) {
  std::vector<std::string> words = {"variant", "uninstall"};
  for (const InstalledPackageFiles* package : packages) words.push_back(package->distribution.name);
  return shell_command(words) + files.python_option();
}

}  // namespace axle::doctor
