#include "index/family/family_variants.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "index/family/family_vendors.h"

namespace axle::index {
namespace {

constexpr std::string_view order_feature = "order";

/// "7.5, 8.0 and PTX of 12.0".
std::string describe_code(const FamilyBuild& build) {
  if (!build.code) return "code unknown";
  if (build.code_of_torch) return "the code that torch has";
  std::string text = fmt::format("code for {}", fmt::join(*build.code, ", "));
  if (!build.ptx) return text + ", PTX unknown";
  if (!build.ptx->empty()) text += fmt::format(" and PTX of {}", fmt::join(*build.ptx, ", "));
  return text;
}

std::string describe_build(const Family& family, const FamilyLabel& label,
                           const FamilyBuild& build) {
  std::string text;
  if (!label.vendor.empty()) text = describe_code(build) + ", ";
  const bool windows = build.platform.starts_with("windows") && !label.driver_windows.empty();
  const std::string& driver = !build.driver.empty() ? build.driver
                              : windows             ? label.driver_windows
                                                    : label.driver;
  if (!driver.empty()) text += fmt::format("driver {} or newer, ", driver);
  text += fmt::format("{}, {}: {}", render_confidence(build.confidence), build.date,
                      render_sources(family, build.sources));
  if (!build.note.empty()) text += fmt::format(" ({})", build.note);
  return text;
}

class VariantsMaker {
 public:
  VariantsMaker(const Family& family, FamilyVariants& variants)
      : family_(family), variants_(variants) {
    wheel::VariantMetadata& document = variants_.document;
    document.schema_version = "0.2.0";
    document.namespaces = {std::string(order_ns)};
    for (const FamilyVendor& vendor : family_vendors())
      document.namespaces.emplace_back(vendor.word);
    document.namespaces.emplace_back(own_ns);
    for (const std::string& ns : document.namespaces | std::views::drop(1))
      document.providers[ns].builtin = ns;
    std::vector<std::string> places;
    for (std::size_t i = 0; i < family.labels.size(); ++i) places.push_back(std::to_string(i + 1));
    document.providers[std::string(order_ns)].static_properties = {
        {std::string(order_feature), std::move(places)}};
  }

  /// `name`: of the build, which is that of its label where that is not built for torch.
  void add(const std::string& name, const FamilyLabel& label, const FamilyBuild* build) {
    wheel::VariantProperties& properties = variants_.document.variants[name];
    const auto place = static_cast<std::size_t>(&label - family_.labels.data()) + 1;
    properties.insert({std::string(order_ns), std::string(order_feature), std::to_string(place)});
    const FamilyVendor* vendor = find_family_vendor(label.vendor);
    if (vendor == nullptr) return;
    properties.insert({std::string(own_ns), "gpu", label.vendor});
    vendor->add_needs(family_, label, build, properties);
  }

 private:
  const Family& family_;
  FamilyVariants& variants_;
};

const FamilyBuild* find_build(const FamilyRelease* release, std::string_view label,
                              std::string_view platform) {
  if (release == nullptr) return nullptr;
  for (const FamilyBuild& build : release->builds) {
    if (build.label == label && build.platform == platform) return &build;
  }
  return nullptr;
}

/// A member that belongs to several releases was made for the oldest of them that has the label.
const FamilyBuild* build_of(const Family& family, std::string_view member,
                            const wheel::Version& version, std::string_view label,
                            std::string_view platform) {
  if (member == family.anchor())
    return find_build(find_release(family, member, version), label, platform);
  const wheel::Version plain = version.public_version();
  for (const FamilyRelease& release : std::views::reverse(family.releases)) {
    const auto specifiers = release.goes_with.find(member);
    if (specifiers == release.goes_with.end() || !specifiers->second.contains(plain)) continue;
    const FamilyBuild* build = find_build(&release, label, platform);
    if (build != nullptr) return build;
  }
  return find_build(find_release(family, member, version), label, platform);
}

}  // namespace

FamilyVariants family_variants(const Family& family, std::string_view member,
                               const wheel::Version& version, std::string_view platform,
                               const std::set<std::string, std::less<>>& labels) {
  FamilyVariants variants;
  VariantsMaker maker(family, variants);
  const FamilyRelease* release = find_release(family, member, version);
  const std::string title =
      fmt::format("{} {}", member, wheel::render_version(version.public_version()));
  const auto unknown = [&](const std::string& label, const std::string& what) {
    variants.unknown.emplace(
        label, fmt::format("the family {} of {} does not know {}", family.name, family.date, what));
  };
  for (const std::string& name : labels) {
    const FamilyLabel* label = family.label(name);
    if (label == nullptr) {
      unknown(name, fmt::format("the label {}", name));
      continue;
    }
    if (family.is_fallback(name)) variants.fallback.insert(name);
    const FamilyBuild* build = build_of(family, member, version, label->name, platform);
    maker.add(name, *label, build);
    if (build != nullptr) variants.evidence.emplace(name, describe_build(family, *label, *build));
    if (release == nullptr) {
      unknown(name, fmt::format("the release {}", title));
    } else if (build == nullptr && !label->vendor.empty()) {
      unknown(name, fmt::format("the build {} of {} for {}", name, title, platform));
    } else if (build != nullptr && !build->code) {
      unknown(name, fmt::format("which GPUs the build {} of {} has code for", name, title));
    }
  }
  return variants;
}

}  // namespace axle::index
