// What the libraries of one package need of those of others, by name and by symbol: extensions that
// were built against another torch than the installed one.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "binaries/abi_match.h"
#include "binaries/linkage.h"
#include "binaries/system_runtime.h"
#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "foundation/system/shell_command.h"
#include "wheel/zip/zip_reader.h"

namespace axle::doctor {

namespace {

using binaries::LinkedLibrary;
using binaries::PackageLibraries;

constexpr std::size_t longest_missing = 200;  ///< C++ has names of kilobytes

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The installed libraries by what others need them as, and those of one package.
class LinkIndex {
 public:
  explicit LinkIndex(const InstalledFiles& files) {
    for (const InstalledLibrary& library : files.libraries) {
      of_package_[library.package].push_back(&library);
      by_name_.emplace(std::string(last_part(library.name)), &library);
      if (!library.facts.soname.empty()) by_name_.emplace(library.facts.soname, &library);
      stems_[std::string(binaries::library_stem(last_part(library.name)))].insert(library.package);
    }
  }

  [[nodiscard]] const std::map<std::size_t, std::vector<const InstalledLibrary*>>& packages()
      const {
    return of_package_;
  }
  [[nodiscard]] const InstalledLibrary* find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  /// Other packages that have the library, in some version.
  [[nodiscard]] std::set<std::size_t> owners(const std::string& needed, std::size_t user) const {
    const auto found = stems_.find(std::string(binaries::library_stem(needed)));
    std::set<std::size_t> owners = found == stems_.end() ? std::set<std::size_t>() : found->second;
    if (const InstalledLibrary* library = find(needed)) owners.insert(library->package);
    // It has a copy of its own.
    if (owners.contains(user)) return {};
    return owners;
  }
  /// With those that they need in turn, as the loader brings them all.
  [[nodiscard]] std::set<const InstalledLibrary*> reached_from(std::size_t user) const {
    std::set<const InstalledLibrary*> reached;
    std::vector<const InstalledLibrary*> open = of_package_.at(user);
    while (!open.empty()) {
      const InstalledLibrary* one = open.back();
      open.pop_back();
      for (const std::string& needed : one->facts.needed) {
        const InstalledLibrary* next = find(needed);
        if (next != nullptr && next->package != user && reached.insert(next).second)
          open.push_back(next);
      }
    }
    return reached;
  }

 private:
  std::map<std::size_t, std::vector<const InstalledLibrary*>> of_package_;
  std::map<std::string, const InstalledLibrary*> by_name_;
  std::map<std::string, std::set<std::size_t>> stems_;
};

std::optional<LinkedLibrary> read_linked(const InstalledLibrary& library, Findings& findings) {
  const auto source = wheel::open_file_source(library.path);
  auto linked = source
                    ? binaries::read_linked_library(**source, std::string(last_part(library.name)))
                    : Result<LinkedLibrary>(std::unexpected(source.error()));
  if (linked) return std::move(*linked);
  findings.not_looked_at(
      fmt::format("the symbols of {}: {}", library.name, linked.error().message));
  return std::nullopt;
}

/// What packages need of others, read once for all that need it: torch's libraries have a million
/// symbols. What one package does not need itself does not hide what it lacks.
class NeededLibraries {
 public:
  NeededLibraries(const LinkIndex& links, const InstalledFiles& files)
      : links_(links), files_(files) {}

  [[nodiscard]] std::vector<const PackageLibraries*> of(std::size_t package, Findings& findings) {
    std::set<std::size_t> owners;
    for (const InstalledLibrary* library : links_.packages().at(package)) {
      for (const std::string& needed : library->facts.needed)
        owners.merge(links_.owners(needed, package));
    }
    for (const InstalledLibrary* library : links_.reached_from(package)) {
      owners.insert(library->package);
      if (!read_.insert(library).second) continue;
      if (auto linked = read_linked(*library, findings))
        owner(library->package).libraries.push_back(std::move(*linked));
    }
    std::vector<const PackageLibraries*> others;
    for (const std::size_t one : owners) others.push_back(&owner(one));
    return others;
  }

 private:
  PackageLibraries& owner(std::size_t package) {
    const auto [at, fresh] = owners_.try_emplace(package);
    if (fresh) {
      at->second.title = files_.packages[package].title;
      for (const InstalledLibrary* library : links_.packages().at(package))
        at->second.names.emplace_back(last_part(library->name));
    }
    return at->second;
  }

  const LinkIndex& links_;
  const InstalledFiles& files_;
  std::map<std::size_t, PackageLibraries> owners_;
  std::set<const InstalledLibrary*> read_;
};

/// Of a package with libraries for several versions of another one, those for versions that are
/// not installed are alternatives that it does not load; so are those whose library the system has.
bool is_left_alone(const LinkedLibrary& library, const std::set<std::string>& met_stems,
                   const LinkIndex& links, std::size_t package, binaries::SystemRuntime& system) {
  return std::ranges::any_of(library.needed, [&](const std::string& needed) {
    if (links.find(needed) != nullptr || links.owners(needed, package).empty()) return false;
    return met_stems.contains(std::string(binaries::library_stem(needed))) ||
           !system.is_absent(needed, library.machine);
  });
}

PackageLibraries read_own(std::size_t package, const LinkIndex& links, const InstalledFiles& files,
                          binaries::SystemRuntime& system, Findings& findings) {
  PackageLibraries own{files.packages[package].title, {}, {}};
  std::set<std::string> met;
  for (const InstalledLibrary* library : links.packages().at(package)) {
    own.names.emplace_back(last_part(library->name));
    auto linked = read_linked(*library, findings);
    if (!linked) continue;
    for (const std::string& needed : linked->needed) {
      if (links.find(needed) != nullptr) met.emplace(binaries::library_stem(needed));
    }
    own.libraries.push_back(std::move(*linked));
  }
  std::erase_if(own.libraries, [&](const LinkedLibrary& library) {
    return is_left_alone(library, met, links, package, system);
  });
  return own;
}

/// A library that is no Python module may be an optional part, which nothing loads here.
bool is_module(const std::string& library, const std::vector<const InstalledLibrary*>& own) {
  const auto found = std::ranges::find_if(
      own, [&](const InstalledLibrary* one) { return last_part(one->name) == library; });
  const auto source = found == own.end() ? Result<std::unique_ptr<wheel::ByteSource>>()
                                         : wheel::open_file_source((*found)->path);
  if (!source || *source == nullptr) return false;
  const auto linkage = binaries::read_linkage(**source, library);
  return linkage && (!linkage->modules.empty() || linkage->torch_cxx.count > 0 ||
                     linkage->torch_stable.count > 0);
}

std::string shortened(std::string text) {
  if (text.size() > longest_missing) text = text.substr(0, longest_missing) + "…";
  return text;
}

/// Members of a family are only chosen together; where they belong together, this one's files are
/// not those of its version. Any other package is chosen in a version that suits.
Hint fix_of_misfit(const InstalledPackageFiles& package, const std::string& owner,
                   const InstalledFiles& files, const Findings& findings) {
  if (package.family != nullptr) {
    const bool unlike = std::ranges::any_of(
        findings.all(), [](const Finding& one) { return one.code.starts_with("family-"); });
    return unlike ? family_again(package, files) : reinstall({&package}, files);
  }
  const std::vector<std::string> words = {"variant", "install", "--upgrade", "--check-abi",
                                          package.distribution.name};
  return {owner.empty()
              ? fmt::format("install a version of {} for this machine", package.distribution.name)
              : fmt::format("install a version of {} that was built for {}",
                            package.distribution.name, owner),
          {shell_command(words) + files.python_option()}};
}

void say_misfit_of(std::size_t package, const binaries::AbiMisfit& misfit, const LinkIndex& links,
                   const InstalledFiles& files, Findings& findings) {
  const InstalledPackageFiles& own = files.packages[package];
  const std::string owner = misfit.lacks == nullptr ? std::string() : misfit.lacks->title;
  Hint hint = fix_of_misfit(own, owner, files, findings);
  Finding& finding = findings.add("abi-misfit", own.title,
                                  fmt::format("it was built against other libraries than the "
                                              "installed ones: {}",
                                              shortened(misfit.render())));
  const std::vector<const InstalledLibrary*>& libraries = links.packages().at(package);
  if (!is_module(misfit.library, libraries)) finding.level = FindingLevel::warning;
  const auto library = std::ranges::find_if(libraries, [&](const InstalledLibrary* one) {
    return last_part(one->name) == misfit.library;
  });
  finding.evidence.push_back({library == libraries.end() ? misfit.library : (*library)->name,
                              ".dynamic", fmt::format("needs {}", shortened(misfit.missing))});
  finding.evidence.push_back({"", "", misfit.why});
  finding.hint = std::move(hint);
}

}  // namespace

void check_links(const InstalledFiles& files, const JudgedMachine& judged, detect::Host* host,
                 Findings& findings) {
  const LinkIndex links(files);
  std::error_code ignored;
  const auto python = std::filesystem::canonical(files.environment.python, ignored);
  binaries::SystemRuntime system(judged.machine.libc, host,
                                 {(python.parent_path().parent_path() / "lib").string()});
  NeededLibraries needed_libraries(links, files);
  for (const auto& [package, libraries] : links.packages()) {
    const bool linked = std::ranges::any_of(libraries, [&](const InstalledLibrary* library) {
      return !is_foreign(*library, judged.machine) &&
             std::ranges::any_of(library->facts.needed, [&](const std::string& needed) {
               return !links.owners(needed, package).empty();
             });
    });
    // What does not fit the interpreter at all has a finding of its own.
    if (!linked || files.packages[package].foreign_wheel) continue;
    const PackageLibraries own = read_own(package, links, files, system, findings);
    const auto others = needed_libraries.of(package, findings);
    if (const auto misfit = binaries::find_abi_misfit(own, others, system))
      say_misfit_of(package, *misfit, links, files, findings);
  }
}

}  // namespace axle::doctor
