#include "resolver/family/backend_change.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "detect/gpu_vendors.h"

namespace axle::resolver {
namespace {

std::set<std::string, std::less<>> vendors_of(const wheel::VariantProperties& properties) {
  std::set<std::string, std::less<>> vendors;
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    const bool named = std::ranges::any_of(properties, [&](const wheel::Property& property) {
      return property.ns == vendor.word ||
             (property.ns == "axle" && property.feature == "gpu" && property.value == vendor.word);
    });
    if (named) vendors.emplace(vendor.word);
  }
  return vendors;
}

Backend backend_of(const index::Family* family, std::string label, bool is_variant,
                   const wheel::VariantProperties& properties) {
  Backend backend{std::move(label), false, is_variant, vendors_of(properties)};
  const index::FamilyLabel* known = family == nullptr ? nullptr : family->label(backend.label);
  if (known == nullptr) return backend;
  backend.is_family_label = true;
  if (!known->vendor.empty()) backend.vendors = {known->vendor};
  return backend;
}

/// "torch 2.14.1 (cu126)"
std::string render_build(const std::string& name, const std::string& version,
                         const std::string& backend) {
  return fmt::format("{} {} ({})", name, version, backend.empty() ? "unknown backend" : backend);
}

}  // namespace

Backend installed_backend(const plan::InstalledPackage& package, Families& families) {
  return backend_of(families.of(package.name), families.installed_label(package),
                    package.variant.has_value(), package.variant_properties);
}

Backend planned_backend(const plan::ResolvedPackage& package, Families& families) {
  const index::Family* family = families.of(package.name);
  std::string label = package.variant.value_or("");
  if (label.empty() && family != nullptr)
    label = families.plain_label(*family, package.name, package.version);
  return backend_of(family, std::move(label), package.variant.has_value(),
                    package.variant_properties);
}

bool is_backend_change(const Backend& from, const Backend& to) {
  if (from.is_family_label) {
    return to.is_family_label ? from.label != to.label
                              : to.label.empty() || from.vendors != to.vendors;
  }
  return (from.is_variant || !from.vendors.empty()) && from.vendors != to.vendors;
}

KeptBuilds installed_gpu_builds(const std::vector<plan::InstalledPackage>& installed,
                                Families& families, const Options& options) {
  KeptBuilds kept;
  // --require asks for what this machine runs.
  if (options.allow_backend_change || !options.variants || !options.required.empty()) return kept;
  for (const plan::InstalledPackage& package : installed) {
    const index::Family* family = families.of(package.name);
    if (family != nullptr && options.open_families.contains(family->name)) continue;
    const Backend backend = installed_backend(package, families);
    const bool named =
        options.pinned_variants.contains(package.name) || options.plain_only.contains(package.name);
    if (!named && !backend.label.empty() && !backend.vendors.empty())
      kept.emplace(package.name, KeptBuild{backend.label, std::nullopt});
  }
  return kept;
}

Unresolved refused_backends(std::vector<PlannedChange> changes, const std::string& why_not_kept,
                            const std::map<std::string, std::string>& newest) {
  std::vector<std::string> steps;
  std::vector<std::string> ways;
  for (const PlannedChange& change : changes) {
    steps.push_back(
        fmt::format("{} is installed, {} would replace it",
                    render_build(change.name, change.installed_version, change.installed_backend),
                    render_build(change.name, change.version,
                                 change.backend.empty() ? "plain" : change.backend)));
    if (const auto version = newest.find(change.name); version != newest.end()) {
      ways.push_back(version->second == change.installed_version
                         ? fmt::format("{} {} is the newest with {}", change.name, version->second,
                                       change.installed_backend)
                         : fmt::format("{}=={} has {}", change.name, version->second,
                                       change.installed_backend));
    }
  }
  Unresolved refused;
  refused.kind = ErrorKind::conflict;
  refused.message =
      fmt::format("the backend of installed packages would change: {}", fmt::join(steps, "; "));
  if (!why_not_kept.empty())
    refused.message += fmt::format("; it cannot be kept: {}", why_not_kept);
  ways.push_back(
      "use --allow-backend-change to accept this, or name a build with --torch-backend LABEL or "
      "--variant PKG=LABEL");
  refused.hint = fmt::format("{}", fmt::join(ways, "; "));
  refused.changes = std::move(changes);
  return refused;
}

}  // namespace axle::resolver
