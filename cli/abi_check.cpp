#include "cli/abi_check.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

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
  [[nodiscard]] std::set<std::string> required_by(const std::string& name) const;
  [[nodiscard]] Result<OpenedPackage*> open(const std::string& name);
  [[nodiscard]] Result<void> compare(const plan::ResolvedPackage& package,
                                     std::vector<AbiRefusal>& refused);
  void note_platform(const std::string& url, const std::set<std::string>& needed);
  void warn_of_absent_runtime(const binaries::PackageLibraries& package,
                              std::span<const binaries::PackageLibraries* const> others);

  index::Transport& transport_;
  Report& report_;
  binaries::SystemRuntime& machine_;
  std::map<std::string, const plan::ResolvedPackage*> planned_;
  std::map<std::string, const installer::InstalledDistribution*> installed_;
  std::map<std::string, OpenedPackage> opened_;  ///< by URL, those that are installed by name
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

Result<OpenedPackage*> AbiCheck::open(const std::string& name) {
  const auto planned = planned_.find(name);
  const std::string& key = planned == planned_.end() ? name : planned->second->url;
  if (const auto known = opened_.find(key); known != opened_.end()) return &known->second;
  OpenedPackage opened;
  if (planned != planned_.end()) {
    auto wheel = OpenedPackage::open_wheel(*planned->second, transport_, report_, readings_);
    if (!wheel) return std::unexpected(std::move(wheel).error());
    opened = std::move(*wheel);
  } else if (const auto there = installed_.find(name); there != installed_.end()) {
    opened = OpenedPackage::open_installed(*there->second);
  }
  return &opened_.emplace(key, std::move(opened)).first->second;
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
  for (const plan::ResolvedPackage& package : resolution.packages) {
    if (!package.already_installed) planned_.emplace(package.name, &package);
  }
  for (const installer::InstalledDistribution& one : installed) {
    if (!planned_.contains(one.name)) installed_.emplace(one.name, &one);
  }
  std::vector<AbiRefusal> refused;
  for (const auto& [name, package] : planned_) {
    if (auto ok = compare(*package, refused); !ok) return std::unexpected(ok.error());
  }
  report_.note(fmt::format("ABI check: {} librar{} compared, {} of wheels read",
                           readings_.libraries, readings_.libraries == 1 ? "y" : "ies",
                           text::render_bytes(readings_.bytes)));
  return refused;
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
  while (true) {
    auto resolution = resolve();
    if (!resolution) {
      if (refusals.empty()) return resolution;
      resolver::Unresolved& error = resolution.error();
      error.kind = ErrorKind::conflict;
      error.message = refusals + error.message;
      error.hint = "ask for other versions, or leave out --check-abi to install what is not taken";
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
      report.warn(text);
      refusals += text + "; ";
      options.refused_wheels.emplace(refusal.url, refusal.why);
    }
  }
}

}  // namespace axle::cli
