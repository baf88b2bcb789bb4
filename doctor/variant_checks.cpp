#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "detect/gpu_vendors.h"
#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "foundation/system/shell_command.h"
#include "index/family/family_variants.h"
#include "installer/file_access.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::doctor {

namespace {

constexpr std::uint64_t largest_metadata = 16U << 20;

Finding& say_misfit(std::string subject, const VariantFit::Misfit& misfit, const Evidence& where,
                    Findings& findings) {
  Finding& finding =
      findings.add("variant-misfit", std::move(subject),
                   fmt::format("the installed variant does not fit this {}: {}",
                               misfit.abi ? "environment" : "machine", misfit.render()));
  finding.facts = misfit.facts;
  finding.evidence.push_back(where);
  finding.evidence.push_back({"", "", misfit.rule});
  return finding;
}

Hint fix_of_unknown(const VariantFit::Misfit& misfit, const std::string& package) {
  const std::string& ns = misfit.property.ns;
  if (misfit.switched_off)
    return {"", {shell_command(std::vector<std::string>{"variant", "providers", "enable", ns})}};
  if (misfit.abi)
    return {
        fmt::format("install the {} that {} was built against", misfit.property.feature, package)};
  return {};
}

/// A variant.json that does not say which variant is installed.
void check_variant_file(const InstalledPackageFiles& package, const InstalledFiles& files,
                        Findings& findings) {
  const std::string path = fmt::format("{}/{}", package.distribution.dist_info, variant_file);
  std::error_code error;
  if (package.distribution.variant || !std::filesystem::exists(path, error)) return;
  CollectedReport unheard;
  const auto text = installer::read_file(path, largest_metadata);
  const auto document = text ? wheel::parse_variant_metadata(*text, path, unheard)
                             : Result<wheel::VariantMetadata>(std::unexpected(text.error()));
  Finding& finding = findings.add("dist-info-broken", package.title,
                                  "the requirements of its variant cannot be read");
  finding.evidence.push_back(
      {path, "", document ? "it does not name exactly one variant" : document.error().message});
  finding.hint = reinstall({&package}, files);
}

/// A wheel variant: dist-info/variant.json has its requirements.
void check_variant(InstalledPackageFiles& package, const JudgedMachine& judged,
                   const InstalledFiles& files, Findings& findings) {
  const std::string path = fmt::format("{}/{}", package.distribution.dist_info, variant_file);
  const auto text = installer::read_file(path, largest_metadata);
  CollectedReport unheard;
  const auto document = text ? wheel::parse_variant_metadata(*text, path, unheard)
                             : Result<wheel::VariantMetadata>(std::unexpected(text.error()));
  if (!document) return;  // changed since the list was made
  const std::string& label = *package.distribution.variant;
  const VariantFit fit =
      judge_variants(*document, judged, files.environment.markers, files.versions);
  const auto rejected = fit.rejected.find(label);
  if (rejected == fit.rejected.end()) return;
  if (rejected->second.unknown) {
    Finding& finding = findings.add("variant-unknown", fmt::format("{} ({})", package.title, label),
                                    render_facts(rejected->second.facts));
    finding.facts = rejected->second.facts;
    finding.evidence.push_back({path, "", wheel::render_property(rejected->second.property)});
    finding.hint = fix_of_unknown(rejected->second, package.title);
    return;
  }
  package.new_choice = NewChoice::other_build;
  say_misfit(fmt::format("{} ({})", package.title, label), rejected->second,
             {path, "", wheel::render_property(rejected->second.property)}, findings)
      .hint = another_build(package, files);
}

/// A member of a family in the environment, and the label of its build.
struct FamilyMember {
  InstalledPackageFiles* package;
  std::string label;
  std::string evidence;     ///< where the label comes from
  bool says_needs = false;  ///< a wheel variant: its variant.json has its requirements
};

/// For a member that was discontinued, the default index's build corresponds to the family release
/// that its last release was made for.
const index::FamilyRelease* release_of(const index::Family& family, const std::string& name,
                                       const wheel::Version& version) {
  const auto ended = family.ended.find(name);
  const index::FamilyRelease* release = index::find_release(family, name, version);
  if (ended == family.ended.end() || release == nullptr) return release;
  const auto last =
      std::ranges::find(family.releases, ended->second, &index::FamilyRelease::version);
  // Releases are sorted newest first.
  return last == family.releases.end() || &*last < release ? release : &*last;
}

std::optional<FamilyMember> member_of(const index::Family& family, InstalledPackageFiles& package,
                                      const std::string& platform) {
  const installer::InstalledDistribution& distribution = package.distribution;
  if (distribution.family == family.name && distribution.variant)
    return FamilyMember{&package, *distribution.variant, "axle-family.json"};
  // A wheel variant: its label is its maker's, and says something here only where the family has
  // it.
  if (distribution.variant) {
    if (family.label(*distribution.variant) == nullptr) return std::nullopt;
    return FamilyMember{&package, *distribution.variant, std::string(variant_file), true};
  }
  const wheel::Version& version = distribution.metadata.version;
  const std::string local = index::local_label(version);
  if (!local.empty()) return FamilyMember{&package, local, "local version"};
  if (family.label_in != index::LabelPlace::version) return std::nullopt;
  const index::FamilyRelease* release = release_of(family, distribution.name, version);
  if (release == nullptr) return std::nullopt;
  const auto usual = release->default_index.find(platform);
  if (usual == release->default_index.end()) return std::nullopt;
  return FamilyMember{&package, usual->second, "the build on the default index"};
}

std::set<std::string, std::less<>> labels_of(const index::Family& family,
                                             const FamilyMember& member,
                                             const std::string& platform) {
  std::set<std::string, std::less<>> labels = {member.label};
  const index::FamilyRelease* release = index::find_release(
      family, member.package->distribution.name, member.package->distribution.metadata.version);
  if (release == nullptr) return labels;
  for (const index::FamilyBuild& build : release->builds) {
    if (build.platform == platform) labels.insert(build.label);
  }
  return labels;
}

/// The labels that all members can have: a set has one (resolver/family/shared_label.cpp).
std::set<std::string, std::less<>> common_labels(const index::Family& family,
                                                 const std::vector<FamilyMember>& members,
                                                 const std::string& platform) {
  std::set<std::string, std::less<>> common;
  for (const FamilyMember& member : members) {
    std::set<std::string, std::less<>> own = {member.label};
    const auto& distribution = member.package->distribution;
    if (const index::FamilyRelease* release =
            release_of(family, distribution.name, distribution.metadata.version)) {
      for (const index::FamilyBuild& build : release->builds) {
        if (build.platform == platform) own.insert(build.label);
      }
    }
    if (&member == &members.front()) {
      common = std::move(own);
    } else {
      std::erase_if(common, [&](const std::string& label) { return !own.contains(label); });
    }
  }
  return common;
}

/// The labels that fit a member, best first: no fallbacks, and nothing with unknown requirements.
std::vector<std::string> real_labels(const VariantFit& fit, const index::FamilyVariants& variants) {
  std::vector<std::string> labels;
  std::ranges::copy_if(fit.fitting, std::back_inserter(labels), [&](const std::string& label) {
    return label != wheel::null_label && !variants.fallback.contains(label) &&
           !variants.unknown.contains(label);
  });
  return labels;
}

/// No GPU of the build's vendor counts: it still runs, on the CPU.
bool lacks_hardware(const index::Family& family, const std::string& label,
                    const JudgedMachine& judged) {
  const index::FamilyLabel* known = family.label(label);
  if (known == nullptr) return false;
  const auto vendor = detect::parse_vendor(known->vendor);
  return vendor && judged.counted(*vendor).empty();
}

/// A GPU counts here that the family has builds for.
bool uses_any_gpu(const index::Family& family, const JudgedMachine& judged) {
  return std::ranges::any_of(family.labels, [&](const index::FamilyLabel& label) {
    return !label.vendor.empty() && !lacks_hardware(family, label.name, judged);
  });
}

/// "torch 2.9.1, torchvision 0.24.1 (cu128)"
std::string title_of(const std::vector<FamilyMember>& build) {
  std::string text;
  for (const FamilyMember& member : build)
    text += (text.empty() ? "" : ", ") + member.package->title;
  return fmt::format("{} ({})", text, build.front().label);
}

/// The members with one label: they have the same result, and the first one represents all.
void check_build(const index::Family& family, const std::vector<FamilyMember>& build,
                 const std::set<std::string, std::less<>>& common, const JudgedMachine& judged,
                 const std::string& platform, const InstalledFiles& files, Findings& findings) {
  const FamilyMember& first = build.front();
  const auto& distribution = first.package->distribution;
  const index::FamilyVariants variants =
      index::family_variants(family, distribution.name, distribution.metadata.version, platform,
                             labels_of(family, first, platform));
  const Evidence where{distribution.dist_info, "",
                       fmt::format("{}, from {}", first.label, first.evidence)};
  if (const auto unknown = variants.unknown.find(first.label); unknown != variants.unknown.end()) {
    findings.add("variant-unknown", title_of(build), unknown->second).evidence.push_back(where);
    return;
  }
  const VariantFit fit = judge_variants(variants.document, judged, files.environment.markers);
  const std::vector<std::string> reals = real_labels(fit, variants);
  auto real =
      std::ranges::find_if(reals, [&](const std::string& label) { return common.contains(label); });
  if (real == reals.end()) real = reals.begin();
  const bool has_better = real != reals.end() && *real != first.label;
  const std::string better =
      has_better ? fmt::format("the build {} of this release is better for this machine", *real)
                 : std::string();
  const auto rejected = fit.rejected.find(first.label);
  if (rejected == fit.rejected.end() && !has_better) return;
  if (rejected != fit.rejected.end() && rejected->second.unknown) {
    Finding& finding =
        findings.add("variant-unknown", title_of(build), render_facts(rejected->second.facts));
    finding.facts = rejected->second.facts;
    finding.evidence.push_back(where);
    finding.hint = fix_of_unknown(rejected->second, first.package->title);
    return;
  }
  // If the family has no build of this release for a GPU, another release may have one.
  const bool release_has_one = real != reals.end() || !uses_any_gpu(family, judged);
  for (const FamilyMember& member : build)
    member.package->new_choice =
        release_has_one ? NewChoice::other_build : NewChoice::other_release;
  if (rejected != fit.rejected.end()) {
    const bool runs = lacks_hardware(family, first.label, judged);
    Finding& finding = say_misfit(title_of(build), rejected->second, where, findings);
    if (runs) {
      finding.level = FindingLevel::warning;
      finding.message =
          fmt::format("it runs on the CPU only: {}{}", render_facts(rejected->second.facts),
                      has_better ? "; " + better : "");
    }
    finding.hint = another_build(*first.package, files);
    return;
  }
  Finding& finding =
      findings.add("variant-not-best", title_of(build), fmt::format("it runs, but {}", better));
  const index::FamilyLabel* is = family.label(first.label);
  const index::FamilyLabel* other = family.label(*real);
  const bool unused = is != nullptr && other != nullptr && is->vendor != other->vendor;
  if (unused) finding.level = FindingLevel::warning;
  finding.evidence.push_back(where);
  const auto evidence = variants.evidence.find(*real);
  if (evidence != variants.evidence.end())
    finding.evidence.push_back({"", *real, evidence->second});
  finding.hint = another_build(*first.package, files);
}

std::string major_of(std::string_view toolkit) {
  return std::string(toolkit.substr(0, toolkit.find('.')));
}

/// No label that fits is available for all members, so they can only have different ones.
bool must_differ(const index::Family& family, const std::vector<FamilyMember>& members,
                 const std::set<std::string, std::less<>>& common, const JudgedMachine& judged,
                 const std::string& platform, const InstalledFiles& files) {
  const FamilyMember& first = members.front();
  const auto& distribution = first.package->distribution;
  const index::FamilyVariants variants =
      index::family_variants(family, distribution.name, distribution.metadata.version, platform,
                             labels_of(family, first, platform));
  const VariantFit fit = judge_variants(variants.document, judged, files.environment.markers);
  const std::vector<std::string> reals = real_labels(fit, variants);
  return std::ranges::find(reals, first.label) != reals.end() &&
         std::ranges::none_of(reals,
                              [&](const std::string& label) { return common.contains(label); });
}

void check_labels(const index::Family& family, const std::vector<FamilyMember>& members,
                  const InstalledFiles& files, Findings& findings) {
  const FamilyMember& first = members.front();
  std::vector<Evidence> unlike;
  bool minor_only = true;
  for (const FamilyMember& member : members) {
    if (member.label == first.label) continue;
    const index::FamilyLabel* one = family.label(first.label);
    const index::FamilyLabel* other = family.label(member.label);
    const bool akin = one != nullptr && other != nullptr && one->vendor == other->vendor &&
                      !one->vendor.empty() && major_of(one->toolkit) == major_of(other->toolkit);
    // A discontinued member stays at the minor version that it was last made for.
    if (akin && family.ended.contains(member.package->distribution.name)) continue;
    minor_only = minor_only && akin;
    unlike.push_back(
        {"", "",
         fmt::format("{} is {} ({})", member.package->title, member.label, member.evidence)});
  }
  if (unlike.empty()) return;
  unlike.insert(
      unlike.begin(),
      {"", "", fmt::format("{} is {} ({})", first.package->title, first.label, first.evidence)});
  Finding& finding =
      findings.add("family-labels-differ", family.name,
                   fmt::format("the members of {} in this environment are from different builds: "
                               "their compiled operators do not work together",
                               family.name));
  if (minor_only) finding.level = FindingLevel::warning;
  finding.evidence = std::move(unlike);
  finding.hint = family_again(*members.front().package, files);
}

void check_versions(const index::Family& family, const std::vector<FamilyMember>& members,
                    const InstalledFiles& files, Findings& findings) {
  const FamilyMember& first = members.front();
  if (first.package->distribution.name != family.anchor()) return;
  const index::FamilyRelease* release =
      index::find_release(family, family.anchor(), first.package->distribution.metadata.version);
  if (release == nullptr) return;
  for (const FamilyMember& member : members) {
    const auto goes = release->goes_with.find(member.package->distribution.name);
    const wheel::Version plain = member.package->distribution.metadata.version.public_version();
    if (goes == release->goes_with.end() || goes->second.contains(plain)) continue;
    // A discontinued member works with the release that it was last made for.
    if (family.ended.contains(member.package->distribution.name)) continue;
    Finding& finding = findings.add(
        "family-versions-differ", member.package->title,
        fmt::format("it was made for another {} than {}", family.anchor(), first.package->title));
    finding.evidence.push_back(
        {"", "",
         fmt::format("{} {} needs another version: {}", family.anchor(), release->version,
                     index::render_sources(family, release->sources))});
    finding.hint = family_again(*members.front().package, files);
  }
}

Result<void> check_family(const index::Family& family, InstalledFiles& files,
                          const JudgedMachine& judged, Findings& findings) {
  const std::string platform = builds_platform(judged.machine);
  std::vector<FamilyMember> members;
  for (const std::string& name : family.members) {
    for (InstalledPackageFiles& package : files.packages) {
      if (package.distribution.name != name) continue;
      if (auto member = member_of(family, package, platform)) members.push_back(std::move(*member));
    }
  }
  if (members.empty()) return {};
  if (platform.empty()) {
    findings.not_looked_at(fmt::format(
        "whether the builds of {} fit: they are for other CPUs and systems", family.name));
    check_labels(family, members, files, findings);
  } else {
    std::vector<std::vector<FamilyMember>> builds;
    for (const FamilyMember& member : members) {
      if (member.says_needs) continue;
      const auto same = std::ranges::find_if(builds, [&](const std::vector<FamilyMember>& build) {
        return build.front().label == member.label;
      });
      if (same == builds.end()) {
        builds.push_back({member});
      } else {
        same->push_back(member);
      }
    }
    const auto common = common_labels(family, members, platform);
    for (const std::vector<FamilyMember>& build : builds)
      check_build(family, build, common, judged, platform, files, findings);
    if (!must_differ(family, members, common, judged, platform, files))
      check_labels(family, members, files, findings);
  }
  check_versions(family, members, files, findings);
  return {};
}

}  // namespace

Result<void> check_variants(InstalledFiles& files, const JudgedMachine& judged,
                            index::FamilyBook& families, Findings& findings) {
  std::vector<const index::Family*> present;
  for (InstalledPackageFiles& package : files.packages) {
    const installer::InstalledDistribution& distribution = package.distribution;
    check_variant_file(package, files, findings);
    if (distribution.variant && distribution.family.empty())
      check_variant(package, judged, files, findings);
    auto family = families.of_project(distribution.name);
    if (!family) return std::unexpected(family.error());
    if (*family == nullptr || !(*family)->has_member(distribution.name)) continue;
    if (std::ranges::find(present, *family) == present.end()) present.push_back(*family);
  }
  for (const index::Family* family : present) {
    if (auto done = check_family(*family, files, judged, findings); !done) return done;
  }
  return {};
}

}  // namespace axle::doctor
