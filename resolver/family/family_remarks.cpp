#include "resolver/family/family_remarks.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace axle::resolver {
namespace {

/// 2.12.0 is past 2.11, 2.11.3 is not.
bool is_past(const wheel::Version& version, const wheel::Version& last) {
  for (std::size_t i = 0; i < last.release.size() && i < version.release.size(); ++i) {
    if (version.release[i] != last.release[i]) return version.release[i] > last.release[i];
  }
  return false;
}

const SettledPackage* find(const SettledPackages& packages, std::string_view name) {
  const auto found = packages.find(name);
  return found == packages.end() ? nullptr : &found->second;
}

/// The first member was not chosen as its best build, since others do not have that one.
void remark_on_shared_label(const index::Family& family, const SettledPackage& first,
                            const SettledPackages& packages, Report& report) {
  const plan::ResolvedPackage& package = first.choice.package;
  const std::vector<plan::Fit>& fits = package.decision.ranked;
  if (fits.empty() || !package.variant || fits.front().label == *package.variant) return;
  const std::string& best = fits.front().label;
  std::vector<std::string> without;
  for (const std::string& member : family.members) {
    const SettledPackage* other = find(packages, member);
    if (other == nullptr || member == family.anchor()) continue;
    const plan::Decision& decision = other->choice.package.decision;
    const auto has = [&](const std::string& label) {
      return std::ranges::find(decision.ranked, label, &plan::Fit::label) !=
                 decision.ranked.end() ||
             std::ranges::find(decision.rejected, label, &plan::Verdict::label) !=
                 decision.rejected.end();
    };
    if (!has(best)) without.push_back(member);
  }
  if (without.empty()) return;
  report.note(fmt::format("{} {} is chosen with build {} instead of {}, which {} does not have",
                          family.anchor(), wheel::render_version(first.choice.release),
                          *package.variant, best, fmt::join(without, " and ")));
}

void remark_on_first(const index::Family& family, const SettledPackage& first,
                     const SettledPackages& packages, Families& families, Report& report) {
  remark_on_shared_label(family, first, packages, report);
  const std::string& name = family.anchor();
  const plan::InstalledPackage* installed = families.installed(name);
  if (installed == nullptr || std::ranges::any_of(first.wants, &Want::is_request)) return;
  if (!families.installed_label(*installed).empty()) return;
  report.warn(fmt::format(
      "{} {}, which is installed, is replaced by {} {}: what it was built for is unknown", name,
      wheel::render_version(installed->version), name,
      wheel::render_version(first.choice.package.version)));
}

void remark_on_member(const index::Family& family, const std::string& name,
                      const SettledPackage& member, const SettledPackages& packages,
                      Families& families, Report& report) {
  const PackageChoice& choice = member.choice;
  const std::string title = fmt::format("{} {}", name, wheel::render_version(choice.release));
  const std::string label = choice.package.variant.value_or("");
  const bool given = !families.given_label(family, name, wants_of_user(member.wants)).empty();
  if (!given && !choice.followed_label.empty() && label != choice.followed_label) {
    report.note(fmt::format("{} has no build {}, unlike {}: {} is chosen", title,
                            choice.followed_label, family.anchor(),
                            label.empty() ? "its plain wheel" : label));
  }
  const SettledPackage* first = find(packages, family.anchor());
  const auto ended = family.ended.find(name);
  if (ended == family.ended.end() || first == nullptr) return;
  const auto last = wheel::parse_version(ended->second);
  if (!last || !is_past(first->choice.release, *last)) return;
  report.note(
      fmt::format("{} is the last release of {}, made for {} {}: it is installed with {} {}",
                  wheel::render_version(choice.release), name, family.anchor(), ended->second,
                  family.anchor(), wheel::render_version(first->choice.release)));
}

}  // namespace

bool names_build(const index::Family* family, const std::string& name,
                 const SettledPackages& packages, const Families& families,
                 const Options& options) {
  if (options.pinned_variants.contains(name) || options.plain_only.contains(name)) return true;
  const SettledPackage* package = find(packages, name);
  if (package == nullptr) return false;
  const std::vector<const Want*> wants = wants_of_user(package->wants);
  return !direct_urls(wants).empty() ||
         (family != nullptr && !families.given_label(*family, name, wants).empty());
}

bool is_build_given(const index::Family* family, const std::string& name,
                    const SettledPackages& packages, Families& families, const Options& options) {
  if (!options.variants) return true;
  if (family == nullptr) return names_build(family, name, packages, families, options);
  return std::ranges::any_of(family->members, [&](const std::string& member) {
    return names_build(family, member, packages, families, options);
  });
}

void remark_on_families(const SettledPackages& packages, Families& families, Report& report) {
  for (const auto& [name, package] : packages) {
    const index::Family* family = families.of(name);
    if (family == nullptr || package.choice.package.already_installed) continue;
    if (name == family->anchor()) {
      remark_on_first(*family, package, packages, families, report);
    } else {
      remark_on_member(*family, name, package, packages, families, report);
    }
  }
}

std::vector<BackendChange> backend_changes(const plan::Resolution& resolution,
                                           const SettledPackages& packages, Families& families,
                                           const Options& options) {
  std::vector<BackendChange> changes;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    const plan::InstalledPackage* installed = families.installed(package.name);
    if (package.already_installed || installed == nullptr) continue;
    const index::Family* family = families.of(package.name);
    if (family != nullptr && options.open_families.contains(family->name)) continue;
    const Backend from = installed_backend(*installed, families);
    const Backend to = planned_backend(package, families);
    if (!is_backend_change(from, to) ||
        is_build_given(family, package.name, packages, families, options)) {
      continue;
    }
    const wheel::Version release =
        family == nullptr ? package.version : package.version.public_version();
    BackendChange change{{package.name, wheel::render_version(installed->version), from.label,
                          wheel::render_version(package.version), to.label},
                         {from.label, std::nullopt}};
    // Whoever names a package wants its newest version; for others an older one does. What this
    // machine would get may be older than what is installed, which then is the newest.
    if (package.requested) {
      const auto allows = [&](const Want* want) {
        return (family != nullptr && family->has_member(want->by)) ||
               want->requirement.specifiers.contains(installed->version);
      };
      const std::vector<Want>& wants = packages.find(package.name)->second.wants;
      const bool newer = installed->version > package.version &&
                         std::ranges::all_of(binding_wants(package.name, wants), allows);
      change.kept.version = newer ? installed->version.public_version() : release;
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace axle::resolver
