#include "doctor/features/feature_judge.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "detect/gpu_vendors.h"
#include "detect/nvidia/cuda_drivers.h"
#include "detect/os/macos.h"
#include "index/family/family_variants.h"
#include "index/family/family_vendors.h"
#include "providers/gpu_archs.h"

namespace axle::doctor {

namespace {

using index::Family;
using index::FamilyBuild;
using index::FamilyFeature;
using index::FamilyLabel;
using index::FamilyRelease;

constexpr std::string_view driver_feature = "cuda_version_lower_bound";

/// The macOS that the build's wheels are for, if the machine's is older; empty: it is not.
std::string newer_macos_of(const FamilyBuild& build, const detect::Machine& machine) {
  const auto own = detect::macos_version(machine.os);
  const auto needed = providers::parse_major_minor(build.macos);
  return own && needed && *own < *needed ? build.macos : std::string();
}

bool has_feature(const Family& family, const FamilyFeature& feature, std::string_view label) {
  if (!feature.labels.empty())
    return std::ranges::find(feature.labels, label) != feature.labels.end();
  const FamilyLabel* known = family.label(label);
  return feature.vendor.empty() || (known != nullptr && known->vendor == feature.vendor);
}

bool has_builds_for(const FamilyRelease& release, std::string_view platform) {
  return std::ranges::find(release.builds, platform, &FamilyBuild::platform) !=
         release.builds.end();
}

detect::Machine with_newest_driver(detect::Machine machine) {
  for (detect::Driver& driver : machine.drivers) {
    if (driver.vendor == detect::GpuVendor::nvidia)
      driver.api_version = detect::cuda_driver_branches.back().cuda;
  }
  return machine;
}

}  // namespace

wheel::Version version_of(const FamilyRelease& release) {
  wheel::Version version;
  version.release = release.prefix;
  return version;
}

std::string text_of(const std::optional<wheel::Version>& version) {
  return version ? wheel::render_version(*version) : std::string();
}

FeatureJudge::FeatureJudge(const Family& family, const FamilyRelease& release,
                           const JudgedMachine& judged, const wheel::MarkerEnvironment& markers,
                           std::string_view chosen)
    : family_(family),
      release_(release),
      judged_(judged),
      chosen_(chosen),
      version_(version_of(release)),
      builds_(judge_builds(markers)) {}

FeatureJudge::Builds FeatureJudge::judge_builds(const wheel::MarkerEnvironment& markers) const {
  Builds builds;
  builds.platform = builds_platform(judged_.machine);
  std::set<std::string, std::less<>>& labels = builds.labels;
  for (const FamilyBuild& build : release_.builds) {
    if (build.platform != builds.platform) continue;
    labels.insert(build.label);
    std::string macos = newer_macos_of(build, judged_.machine);
    if (!macos.empty()) builds.for_newer_macos.emplace(build.label, std::move(macos));
  }
  const index::FamilyVariants variants =
      index::family_variants(family_, family_.anchor(), version_, builds.platform, labels);
  for (const auto& [label, what] : variants.unknown) builds.unknown.insert(label);
  builds.fit = judge_variants(variants.document, judged_, markers);
  const bool for_driver = std::ranges::any_of(builds.fit.rejected, [](const auto& one) {
    return one.second.property.feature == driver_feature;
  });
  if (for_driver) {
    const detect::Machine newest = with_newest_driver(judged_.machine);
    builds.fit_with_newest_driver =
        judge_variants(variants.document, {newest, judged_.gpus, judged_.providers}, markers);
  }
  std::erase_if(builds.fit.fitting, [&](const std::string& one) {
    return !labels.contains(one) || builds.for_newer_macos.contains(one);
  });
  return builds;
}

bool FeatureJudge::is_for_platform(const FamilyFeature& feature) const {
  return feature.platforms.empty() ||
         std::ranges::find(feature.platforms, builds_.platform) != feature.platforms.end();
}

bool FeatureJudge::has_gpu_for(const FamilyFeature& feature) const {
  const auto vendor = detect::parse_vendor(feature.vendor);
  return !vendor || !judged_.counted(*vendor).empty();
}

bool FeatureJudge::is_of_gpu_here(const FamilyFeature& feature) const {
  const auto vendor = detect::parse_vendor(feature.vendor);
  return vendor && std::ranges::find(judged_.machine.gpus, *vendor, &detect::Gpu::vendor) !=
                       judged_.machine.gpus.end();
}

std::string FeatureJudge::release_title() const {
  return fmt::format("{} {}", family_.anchor(), release_.version);
}

/// What the machine lacks, and that of the release: one without the other would not help.
NeedAnswer FeatureJudge::with_release(NeedAnswer lacking, const FamilyFeature& feature) const {
  if (lacking.usable == Usable::no && is_before(feature))
    lacking.reason +=
        fmt::format("; it was added in {} {}", family_.anchor(), text_of(feature.since));
  return lacking;
}

/// Of a release before or after those with the feature; nullopt: it is of these.
std::optional<NeedAnswer> FeatureJudge::misfit_of_release(const FamilyFeature& feature) const {
  if (is_in_time(feature)) return std::nullopt;
  NeedAnswer lacking;
  lacking.usable = Usable::no;
  lacking.reason =
      is_before(feature)
          ? fmt::format("it was added in {} {}", family_.anchor(), text_of(feature.since))
          : fmt::format("{} {} has it no more", family_.anchor(), text_of(feature.until));
  lacking.of_release = true;
  return lacking;
}

/// A machine of one of the platforms.
Change FeatureJudge::other_platform(const std::vector<std::string>& platforms) const {
  Change change{Change::Of::platform, "a {} machine", {}};
  for (const std::string& name : platforms) {
    const auto to = [name](const detect::Machine& from) { return on_platform(from, name); };
    change.ways.push_back({to, name});
  }
  return change;
}

/// Of a machine that the release, or the feature, has no builds for; nullopt: it has.
std::optional<NeedAnswer> FeatureJudge::misfit_of_platform(const FamilyFeature& feature) const {
  const std::string& platform = builds_.platform;
  if (platform.empty()) {
    NeedAnswer none{Usable::no, "there are no builds for this CPU and system"};
    if (is_linux(judged_.machine) && judged_.machine.libc.family == "musl")
      none.changes.push_back({Change::Of::system, "a system with glibc", {{with_glibc}}});
    return none;
  }
  if (const auto ended = family_.ended_platforms.find(platform);
      ended != family_.ended_platforms.end() && !has_builds()) {
    const std::string last = fmt::format("{} {}", family_.anchor(), ended->second);
    return NeedAnswer{Usable::no, fmt::format("{} was the last release for {}", last, platform),
                      fmt::format("{}, of which this file knows no features", last)};
  }
  if (!is_for_platform(feature)) {
    std::vector<std::string> platforms;
    for (const FamilyFeature& one : family_.features) {
      if (one.name != feature.name || !knows(one)) continue;
      for (const std::string& other : one.platforms) {
        if (std::ranges::find(platforms, other) == platforms.end()) platforms.push_back(other);
      }
    }
    return with_release({Usable::no,
                         fmt::format("only builds for {} have it", fmt::join(platforms, ", ")),
                         {},
                         {other_platform(platforms)}},
                        feature);
  }
  if (has_builds()) return std::nullopt;
  const bool had = std::ranges::any_of(family_.releases, [&](const FamilyRelease& one) {
    return version_of(one) < version_ && has_builds_for(one, platform);
  });
  if (!had)
    return NeedAnswer{Usable::no, fmt::format("{} has no build for {}", release_title(), platform)};
  return NeedAnswer{Usable::unknown,
                    fmt::format("the family {} has no fact about a build of {} for {}",
                                family_.name, release_title(), platform)};
}

FeatureJudge::Decision FeatureJudge::decide(const FamilyFeature& feature) const {
  if (auto misfit = misfit_of_platform(feature)) return {*std::move(misfit), {}};
  const auto vendor = detect::parse_vendor(feature.vendor);
  if (!has_gpu_for(feature))
    return {with_release(or_elsewhere(without_gpu(feature, *vendor, judged_), feature), feature),
            {}};
  // Hardware that the feature itself cannot use is the cause, whatever release, build or driver
  // lacks besides.
  if (NeedAnswer hardware = judge_hardware(feature, judged_); hardware.usable == Usable::no)
    return {with_release(or_elsewhere(std::move(hardware), feature), feature), {}};
  if (auto misfit = misfit_of_release(feature)) return {*std::move(misfit), {}};
  if (!chosen_.empty() && !builds_.labels.contains(chosen_)) {
    return {
        {Usable::unknown, fmt::format("the family {} knows no build {} of {} for {}", family_.name,
                                      chosen_, release_title(), builds_.platform)},
        {}};
  }
  std::string label = build_with(feature);
  if (label.empty()) return {without_build(feature), {}};
  // A build that the user forces need not fit.
  if (auto misfit = misfit_of(label)) return {*std::move(misfit), std::move(label)};
  NeedAnswer needs = judge_needs(feature, family_.label(label), judged_);
  if (needs.usable == Usable::no) {
    auto newer = newer_drivers(feature);
    std::ranges::move(newer, std::back_inserter(needs.changes));
  }
  if (!chosen_.empty() && label != chosen_ && needs.usable != Usable::no) {
    return {{Usable::no, fmt::format("the build {} does not have it", chosen_),
             fmt::format("the build {}, which fits too", label)},
            {}};
  }
  if (needs.usable == Usable::yes && builds_.unknown.contains(label))
    needs = {Usable::unknown, fmt::format("the requirements of the build {} are unknown", label)};
  if (needs.usable == Usable::yes)
    needs.reason =
        fmt::format("with the build {}{}{}", label, needs.reason.empty() ? "" : ", ", needs.reason);
  return {std::move(needs), std::move(label)};
}

/// What the machine lacks may be had where other builds of the release run.
NeedAnswer FeatureJudge::or_elsewhere(NeedAnswer lacking, const FamilyFeature& feature) const {
  std::vector<std::string> elsewhere;
  for (const FamilyBuild& build : release_.builds) {
    if (has_feature(family_, feature, build.label) && build.platform != builds_.platform &&
        std::ranges::find(elsewhere, build.platform) == elsewhere.end())
      elsewhere.push_back(build.platform);
  }
  if (lacking.usable == Usable::no && !elsewhere.empty())
    lacking.elsewhere.push_back(other_platform(elsewhere));
  return lacking;
}

/// The label of the build that has the feature: the chosen one, else the best that fits; empty:
/// none. Builds whose requirements are known come first, as in the choice of builds.
std::string FeatureJudge::build_with(const FamilyFeature& feature) const {
  if (!chosen_.empty() && has_feature(family_, feature, chosen_)) return std::string(chosen_);
  std::string uncertain;
  for (const std::string& one : builds_.fit.fitting) {
    if (!has_feature(family_, feature, one)) continue;
    if (!builds_.unknown.contains(one)) return one;
    if (uncertain.empty()) uncertain = one;
  }
  return uncertain;
}

const std::string& FeatureJudge::driver_of(const FamilyLabel& label) const {
  const bool windows = judged_.machine.os.system == "Windows" && !label.driver_windows.empty();
  return windows ? label.driver_windows : label.driver;
}

/// The CUDA version and the driver that a build of the label needs.
std::optional<Change> FeatureJudge::newer_driver_for(std::string_view label,
                                                     const VariantFit::Misfit& misfit) const {
  const FamilyLabel* known = family_.label(label);
  if (known == nullptr || known->driver.empty()) return std::nullopt;
  return newer_driver(fmt::format("NVIDIA driver {} or newer", driver_of(*known)),
                      misfit.property.value);
}

/// For builds that have the feature and are refused for the driver alone; the oldest driver first.
std::vector<Change> FeatureJudge::newer_drivers(const FamilyFeature& feature) const {
  std::multimap<std::pair<unsigned, unsigned>, Change> found;  // by the CUDA version
  for (const auto& [label, misfit] : builds_.fit.rejected) {
    if (misfit.property.feature != driver_feature || !has_feature(family_, feature, label) ||
        builds_.fit_with_newest_driver.rejected.contains(label))
      continue;
    const auto cuda = providers::parse_major_minor(misfit.property.value);
    auto change = newer_driver_for(label, misfit);
    if (cuda && change) found.emplace(*cuda, *std::move(change));
  }
  std::vector<Change> changes;
  for (auto& [cuda, change] : found) changes.push_back(std::move(change));
  return changes;
}

NeedAnswer FeatureJudge::misfit_of_macos(const std::string& needed) const {
  const std::string newer = needed.substr(0, needed.find('.'));
  const auto version = providers::parse_major_minor(needed);
  const auto to = [version](const detect::Machine& from) {
    return version ? with_macos(from, *version) : ChangedMachines();
  };
  return {Usable::no,
          fmt::format("the wheels of {} are for macOS {} and newer, and this is {}",
                      release_title(), newer, judged_.machine.os.name),
          {},
          {{Change::Of::system, fmt::format("macOS {} or newer", newer), {{to}}}}};
}

/// A GPU of the label's vendor that its builds have code for.
Change FeatureJudge::other_gpu(const FamilyLabel* label) const {
  Change change{
      Change::Of::gpu, fmt::format("a GPU that builds of {} have code for", release_title()), {}};
  const auto vendor = label == nullptr ? std::nullopt : detect::parse_vendor(label->vendor);
  if (!vendor) return change;
  const auto count = static_cast<unsigned>(judged_.counted(*vendor).size());
  const auto any = [](const machines::GpuModel&) { return true; };
  change.ways.push_back({[vendor, count, any](const detect::Machine& from) {
    return with_gpus(from, *vendor, std::max(count, 1U), any);
  }});
  return change;
}

/// Why the build does not fit the machine; nullopt: it does.
std::optional<NeedAnswer> FeatureJudge::misfit_of(std::string_view label) const {
  if (const auto macos = builds_.for_newer_macos.find(label);
      macos != builds_.for_newer_macos.end())
    return misfit_of_macos(macos->second);
  const auto rejected = builds_.fit.rejected.find(label);
  if (rejected == builds_.fit.rejected.end()) return std::nullopt;
  const auto& still = builds_.fit_with_newest_driver.rejected;
  const auto beside = still.find(label);
  const bool driver = rejected->second.property.feature == driver_feature;
  // Where a newer driver would not do, it is not what is missing.
  const VariantFit::Misfit& misfit =
      driver && beside != still.end() ? beside->second : rejected->second;
  const FamilyLabel* known = family_.label(label);
  const index::FamilyVendor* vendor =
      known == nullptr ? nullptr : index::find_family_vendor(known->vendor);
  if (vendor != nullptr && !vendor->compiled_later.empty() && !misfit.unknown) {
    return NeedAnswer{
        Usable::unknown,
        fmt::format("the build {} has no compiled code for it ({}), and nobody has verified that "
                    "its {} runs there",
                    label, misfit.render(), vendor->compiled_later),
        {},
        {},
        {},
        /*of_release=*/true};
  }
  NeedAnswer answer{Usable::no,
                    fmt::format("the build {} does not fit: {}", label, misfit.render())};
  auto newer = driver && beside == still.end() ? newer_driver_for(label, misfit) : std::nullopt;
  answer.changes.push_back(newer ? *std::move(newer) : other_gpu(known));
  return answer;
}

/// No build that fits has the feature. One that only lacks a newer driver says more than others; of
/// those the oldest driver will do.
NeedAnswer FeatureJudge::without_build(const FamilyFeature& feature) const {
  std::optional<NeedAnswer> first;
  for (const FamilyLabel& label : family_.labels) {  // best first
    if (!has_feature(family_, feature, label.name)) continue;
    auto misfit = misfit_of(label.name);
    if (!misfit) continue;
    if (!misfit->changes.empty() && is_software(misfit->changes.front().of)) {
      auto drivers = newer_drivers(feature);
      if (!drivers.empty()) misfit->changes = std::move(drivers);
      return *std::move(misfit);
    }
    if (!first) first = std::move(misfit);
  }
  if (first) return *std::move(first);
  NeedAnswer answer{
      Usable::no, fmt::format("{} has no build with it for {}", release_title(), builds_.platform)};
  answer = or_elsewhere(std::move(answer), feature);
  std::swap(answer.changes, answer.elsewhere);
  return answer;
}

}  // namespace axle::doctor
