#include "cli/abi_check.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "binaries/abi_match.h"
#include "cli/opened_package.h"
#include "foundation/text/byte_size.h"
#include "resolver/family/gpu_platform.h"
#include "wheel/requirement.h"

namespace axle::cli {

namespace {

/// A package whose own libraries are larger is looked at as what others need, but not itself.
constexpr std::uint64_t most_packed = 512ULL << 20;
/// The same of one that requires no others: only the machine's own libraries can be missing there.
constexpr std::uint64_t most_packed_alone = 64ULL << 20;

struct AbiRefusal {
  std::string package;  ///< "flash-attn 2.8.3 (variant cu130)"
  std::string url;
  std::string why;  ///< "_C.so needs c10::f(), which torch 2.10.0 lacks"
  /// The installed package whose library needs it, which could change, too; empty: the package's
  /// own does.
  std::string user = {};
};

/// Keeps what it read from one resolution to the next.
class AbiCheck {
 public:
  AbiCheck(index::Transport& transport, binaries::SystemRuntime& machine, Report& report)
      : transport_(transport), report_(report), machine_(machine) {}

  /// Compares each platform wheel of `resolution` with what it requires, and with the machine.
  /// Errors: as of index::open_remote.
  [[nodiscard]] Result<std::vector<AbiRefusal>> check(
      const plan::Resolution& resolution,
      const std::vector<installer::InstalledDistribution>& installed);

  /// By URL of each wheel that was read, the library that says which GPU platform it is for.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& gpu_libraries() const {
    return gpu_libraries_;
  }

 private:
  /// A package with libraries that another version takes the place of, or that is new.
  struct Change {
    const plan::ResolvedPackage* planned;
    OpenedPackage* before;  ///< of a new one without libraries
    OpenedPackage* after;
  };

  [[nodiscard]] std::set<std::string> required_by(const std::string& name) const;
  [[nodiscard]] Result<OpenedPackage*> open(const std::string& name);
  [[nodiscard]] OpenedPackage* open_before(const std::string& name);
  [[nodiscard]] Result<void> compare(const plan::ResolvedPackage& package,
                                     std::vector<AbiRefusal>& refused);
  [[nodiscard]] Result<std::vector<Change>> changes();
  [[nodiscard]] Result<void> compare_installed(const std::string& name,
                                               const std::vector<Change>& changes,
                                               std::vector<AbiRefusal>& refused);
  void note_platform(const std::string& url, const std::set<std::string>& needed);
  void warn_of_absent_runtime(const binaries::PackageLibraries& package,
                              std::span<const binaries::PackageLibraries* const> others);

  index::Transport& transport_;
  Report& report_;
  binaries::SystemRuntime& machine_;
  std::map<std::string, const plan::ResolvedPackage*> planned_;
  std::map<std::string, const installer::InstalledDistribution*> installed_;  ///< what stays
  std::map<std::string, const installer::InstalledDistribution*> before_;     ///< what is there now
  std::map<std::string, OpenedPackage> opened_;  ///< by URL, what is installed by name
  OpenedPackage nothing_;                        ///< what is not there
  AbiReadings readings_;
  std::map<std::string, std::string, std::less<>> gpu_libraries_;
  std::set<std::string> too_large_;  ///< by URL: those of which that was said
  bool absence_said_ = false;
};

/// Whatever it requires, and what that requires.
std::set<std::string> AbiCheck::required_by(const std::string& name) const {
  std::set<std::string> required;
  std::vector<std::string> open{name};
  const auto add = [&](const std::vector<wheel::Requirement>& requirements) {
    for (const wheel::Requirement& requirement : requirements) {
      std::string other = wheel::normalize_name(requirement.name);
      if (other != name && required.insert(other).second) open.push_back(std::move(other));
    }
  };
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    if (const auto planned = planned_.find(next); planned != planned_.end()) {
      add(planned->second->dependencies);
      if (planned->second->metadata) add(planned->second->metadata->requires_dist);
    } else if (const auto there = installed_.find(next); there != installed_.end()) {
      add(there->second->metadata.requires_dist);
    }
  }
  return required;
}

/// As it will be.
Result<OpenedPackage*> AbiCheck::open(const std::string& name) {
  const auto planned = planned_.find(name);
  if (planned == planned_.end()) {
    if (installed_.contains(name)) return open_before(name);
    return &nothing_;
  }
  const plan::ResolvedPackage& package = *planned->second;
  if (const auto known = opened_.find(package.url); known != opened_.end()) return &known->second;
  auto wheel = OpenedPackage::open_wheel(package, transport_, report_, readings_);
  if (!wheel) return std::unexpected(std::move(wheel).error());
  return &opened_.emplace(package.url, *std::move(wheel)).first->second;
}

/// As it is installed now.
OpenedPackage* AbiCheck::open_before(const std::string& name) {
  const auto there = before_.find(name);
  if (there == before_.end()) return &nothing_;
  if (const auto known = opened_.find(name); known != opened_.end()) return &known->second;
  return &opened_.emplace(name, OpenedPackage::open_installed(*there->second)).first->second;
}

Result<void> AbiCheck::compare(const plan::ResolvedPackage& package,
                               std::vector<AbiRefusal>& refused) {
  if (package.wheel_name.tags_text.ends_with("-any")) return {};
  std::vector<OpenedPackage*> others;
  for (const std::string& name : required_by(package.name)) {
    auto other = open(name);
    if (!other) return std::unexpected(std::move(other).error());
    if ((*other)->has_any()) others.push_back(*other);
  }
  auto own = open(package.name);
  if (!own) return std::unexpected(std::move(own).error());
  const binaries::PackageLibraries& libraries = (*own)->libraries();
  if ((*own)->packed() > (others.empty() ? most_packed_alone : most_packed)) {
    if (too_large_.insert(package.url).second) {
      report_.note(fmt::format("the ABI of {} is not checked: its libraries have {}",
                               libraries.title, text::render_bytes((*own)->packed())));
    }
    return {};
  }
  if (auto ok = (*own)->read_all(report_, readings_); !ok) return ok;
  const std::set<std::string> needed = binaries::needed_names(libraries);
  note_platform(package.url, needed);
  std::vector<const binaries::PackageLibraries*> theirs;
  for (OpenedPackage* other : others) {
    if (auto ok = other->read_named(needed, report_, readings_); !ok) return ok;
    theirs.push_back(&other->libraries());
  }
  if (const auto misfit = binaries::find_abi_misfit(libraries, theirs, machine_))
    refused.push_back({libraries.title, package.url, misfit->render()});
  warn_of_absent_runtime(libraries, theirs);
  return {};
}

Result<std::vector<AbiCheck::Change>> AbiCheck::changes() {
  std::vector<Change> changes;
  for (const auto& [name, package] : planned_) {
    auto after = open(name);
    if (!after) return std::unexpected(std::move(after).error());
    OpenedPackage* before = open_before(name);
    if ((*after)->has_any() || before->has_any()) changes.push_back({package, before, *after});
  }
  return changes;
}

/// What stays must find in what changes under it what it found before. A package that lacked
/// something all along is no reason to refuse others.
Result<void> AbiCheck::compare_installed(const std::string& name,
                                         const std::vector<Change>& changes,
                                         std::vector<AbiRefusal>& refused) {
  std::set<std::string, std::less<>> stems;
  for (const Change& change : changes) {
    for (const OpenedPackage* side : {change.before, change.after}) {
      for (const std::string& library : side->libraries().names)
        stems.emplace(binaries::library_stem(library));
    }
  }
  OpenedPackage* own = open_before(name);
  if (!own->needs_any(stems)) return {};
  if (auto ok = own->read_all(report_, readings_); !ok) return ok;
  const std::set<std::string> needed = binaries::needed_names(own->libraries());
  std::set<std::string> names = required_by(name);
  for (const Change& change : changes) names.insert(change.planned->name);
  names.erase(name);
  std::vector<const binaries::PackageLibraries*> before;
  std::vector<const binaries::PackageLibraries*> after;
  for (const std::string& other : names) {
    OpenedPackage* then = open_before(other);
    auto now = open(other);
    if (!now) return std::unexpected(std::move(now).error());
    for (OpenedPackage* side : {then, *now}) {
      if (auto ok = side->read_named(needed, report_, readings_); !ok) return ok;
    }
    before.push_back(&then->libraries());
    after.push_back(&(*now)->libraries());
  }
  if (binaries::find_abi_misfit(own->libraries(), before, machine_)) return {};
  auto misfit = binaries::find_abi_misfit(own->libraries(), after, machine_);
  for (const Change& change : changes) {
    if (misfit) break;
    misfit = binaries::find_lost_library(own->libraries(), change.before->libraries(),
                                         change.after->libraries(), after);
  }
  if (!misfit) return {};
  const auto culprit = std::ranges::find_if(
      changes, [&](const Change& one) { return &one.after->libraries() == misfit->lacks; });
  if (culprit == changes.end()) return {};
  misfit->library += fmt::format(" of {}, which is installed,", own->libraries().title);
  refused.push_back(
      {culprit->after->libraries().title, culprit->planned->url, misfit->render(), name});
  return {};
}

void AbiCheck::note_platform(const std::string& url, const std::set<std::string>& needed) {
  std::map<std::string, std::string> libraries;  // by platform
  for (const std::string& library : needed) {
    std::string platform = resolver::gpu_platform_of_library(library);
    if (!platform.empty()) libraries.emplace(std::move(platform), library);
  }
  // What has modules for several takes the one that is there.
  if (libraries.size() == 1) gpu_libraries_.emplace(url, libraries.begin()->second);
}

void AbiCheck::warn_of_absent_runtime(const binaries::PackageLibraries& package,
                                      std::span<const binaries::PackageLibraries* const> others) {
  const auto user =
      std::ranges::find_if(package.libraries, [](const binaries::LinkedLibrary& library) {
        return std::ranges::find(library.needed, binaries::cxx_runtime) != library.needed.end();
      });
  const auto brings = [](const binaries::PackageLibraries* one) {
    return std::ranges::find(one->names, binaries::cxx_runtime) != one->names.end();
  };
  if (absence_said_ || user == package.libraries.end() || brings(&package) ||
      std::ranges::any_of(others, brings) ||
      !machine_.is_absent(binaries::cxx_runtime, user->machine)) {
    return;
  }
  absence_said_ = true;
  // An interpreter may find it elsewhere, so this refuses nothing.
  report_.warn(fmt::format("{} needs {}, and no folder of libraries of this machine has it",
                           package.title, binaries::cxx_runtime),
               "install the C++ runtime of the distribution (libstdc++6, libstdc++)");
}

Result<std::vector<AbiRefusal>> AbiCheck::check(
    const plan::Resolution& resolution,
    const std::vector<installer::InstalledDistribution>& installed) {
  planned_.clear();
  installed_.clear();
  before_.clear();
  for (const plan::ResolvedPackage& package : resolution.packages) {
    if (!package.already_installed) planned_.emplace(package.name, &package);
  }
  for (const installer::InstalledDistribution& one : installed) {
    before_.emplace(one.name, &one);
    const bool is_replaced =
        std::ranges::find(resolution.replaced, one.name) != resolution.replaced.end();
    if (!planned_.contains(one.name) && !is_replaced) installed_.emplace(one.name, &one);
  }
  std::vector<AbiRefusal> refused;
  for (const auto& [name, package] : planned_) {
    if (auto ok = compare(*package, refused); !ok) return std::unexpected(ok.error());
  }
  const auto changed = changes();
  if (!changed) return std::unexpected(changed.error());
  for (const auto& [name, there] : installed_) {
    if (changed->empty()) break;
    if (auto ok = compare_installed(name, *changed, refused); !ok)
      return std::unexpected(ok.error());
  }
  report_.note(fmt::format("ABI check: {} librar{} compared, {} of wheels read",
                           readings_.libraries, readings_.libraries == 1 ? "y" : "ies",
                           text::render_bytes(readings_.bytes)));
  return refused;
}

/// `users`: installed packages that stand in the way.
std::string hint_to_change(const std::set<std::string>& users) {
  const std::string names = fmt::format("{}", fmt::join(users, " "));
  return fmt::format(
      "ask for {0} as well, in a version that suits: -U {0}; or leave out --check-abi", names);
}

}  // namespace

binaries::SystemRuntime runtime_of(const detect::Machine& machine, detect::Host* host,
                                   const installer::Environment& environment) {
  // The interpreter of a conda environment, and of virtual environments made by it, has its own.
  std::error_code ignored;
  const std::filesystem::path python = std::filesystem::canonical(environment.python, ignored);
  return {machine.libc, host, {(python.parent_path().parent_path() / "lib").string()}};
}

std::expected<plan::Resolution, resolver::Unresolved> resolve_with_abi(
    const std::function<std::expected<plan::Resolution, resolver::Unresolved>()>& resolve,
    resolver::Options& options, const std::vector<installer::InstalledDistribution>& installed,
    binaries::SystemRuntime& machine, index::Transport& transport, Report& report) {
  AbiCheck check(transport, machine, report);
  std::string refusals;
  std::set<std::string> users;
  while (true) {
    auto resolution = resolve();
    if (!resolution) {
      if (refusals.empty()) return resolution;
      resolver::Unresolved& error = resolution.error();
      error.kind = ErrorKind::conflict;
      error.message = refusals + error.message;
      error.hint = users.empty()
                       ? "ask for other versions, or leave out --check-abi to install what is not "
                         "taken"
                       : hint_to_change(users);
      return resolution;
    }
    auto refused = check.check(*resolution, installed);
    if (!refused) return std::unexpected(resolver::Unresolved{std::move(refused).error()});
    // Now that it is known what platform these wheels are for, other versions may suit them.
    if (options.gpu_libraries != check.gpu_libraries()) {
      options.gpu_libraries = check.gpu_libraries();
      continue;
    }
    if (refused->empty()) return resolution;
    for (const AbiRefusal& refusal : *refused) {
      const std::string text = fmt::format("{} is not taken: {}", refusal.package, refusal.why);
      if (!refusal.user.empty()) users.insert(refusal.user);
      report.warn(text, refusal.user.empty() ? std::string() : hint_to_change({refusal.user}));
      refusals += text + "; ";
      options.refused_wheels.emplace(refusal.url, refusal.why);
    }
  }
}

}  // namespace axle::cli
