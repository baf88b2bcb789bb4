#include "index/family/family_variants.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace axle::index {
namespace {

constexpr std::string_view order_feature = "order";
constexpr std::string_view own_ns = "axle";

/// The published NVIDIA provider knows no older ones (namespace `nvidia`, feature `sm_arch`).
constexpr int first_sm_major = 5;

std::string without_dot(std::string capability) {
  std::erase(capability, '.');
  return capability;
}

int major_of(const std::string& capability) { return std::stoi(capability); }

/// "7.5, 8.0 and PTX of 12.0".
std::string describe_code(const FamilyBuild& build) {
  if (!build.code) return "code unknown";
  std::string text = fmt::format("code for {}", fmt::join(*build.code, ", "));
  if (!build.ptx) return text + ", PTX unknown";
  if (!build.ptx->empty()) text += fmt::format(" and PTX of {}", fmt::join(*build.ptx, ", "));
  return text;
}

std::string describe_build(const Family& family, const FamilyLabel& label,
                           const FamilyBuild& build) {
  std::string text;
  if (!label.vendor.empty()) text = describe_code(build) + ", ";
  const std::string& driver = build.driver.empty() ? label.driver : build.driver;
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
    document.namespaces = {std::string(order_ns), "nvidia", "amd", "intel", std::string(own_ns)};
    for (const std::string_view ns : {"nvidia", "amd", "intel", "axle"})
      document.providers[std::string(ns)].builtin = ns;
    std::vector<std::string> places;
    for (std::size_t i = 0; i < family.labels.size(); ++i) places.push_back(std::to_string(i + 1));
    document.providers[std::string(order_ns)].static_properties = {
        {std::string(order_feature), std::move(places)}};
  }

  void add(const FamilyLabel& label, const FamilyBuild* build) {
    properties_ = &variants_.document.variants[label.name];
    const auto place = static_cast<std::size_t>(&label - family_.labels.data()) + 1;
    put(order_ns, order_feature, std::to_string(place));
    if (label.vendor.empty()) return;
    put(own_ns, "gpu", label.vendor);
    if (label.vendor == "nvidia") {
      put("nvidia", "cuda_version_lower_bound",
          build != nullptr && !build->cuda.empty() ? build->cuda : label.cuda);
    }
    if (build == nullptr || !build->code) return;
    if (label.vendor == "nvidia") put_cuda_code(label, *build);
    if (label.vendor == "amd") {
      for (const std::string& gfx : *build->code) put("amd", "gfx_arch", gfx);
    }
    if (label.vendor == "intel") {
      for (const std::string& device : *build->code) {
        for (const std::string& ip : family_.devices.find(device)->second)
          put("intel", "device_ip", ip);
      }
    }
  }

 private:
  void put(std::string_view ns, std::string_view feature, std::string value) {
    properties_->insert({std::string(ns), std::string(feature), std::move(value)});
  }

  /// `nvidia :: sm_arch` wherever that namespace would judge as CUDA does: it refuses PTX of an
  /// older generation and knows no Kepler. `axle :: cuda_code` judges all of it. A build with PTX
  /// fits where its code or its PTX does, the PTX only with the toolkit's driver: written as two
  /// features, of which each must have a supported value.
  void put_cuda_code(const FamilyLabel& label, const FamilyBuild& build) {
    std::vector<std::string> compiled = *build.code;
    // One chip, renumbered with CUDA 13 (Thor): either name runs on either driver.
    for (const auto& [name, other] : {std::pair("11.0", "10.1"), std::pair("10.1", "11.0")}) {
      if (std::ranges::find(*build.code, name) != build.code->end()) compiled.emplace_back(other);
    }
    const std::vector<std::string> ptx = build.ptx.value_or(std::vector<std::string>{});
    const bool published = ptx.empty() && std::ranges::all_of(compiled, [](const std::string& c) {
                             return major_of(c) >= first_sm_major;
                           });
    for (const std::string& capability : compiled) {
      const std::string value = without_dot(capability) + "_real";
      if (published) put("nvidia", "sm_arch", value);
      put(own_ns, "cuda_code", value);
      if (!ptx.empty()) put(own_ns, "cuda_code_or_jit", value);
    }
    for (const std::string& capability : ptx)
      put(own_ns, "cuda_code", without_dot(capability) + "_virtual");
    if (!ptx.empty()) put(own_ns, "cuda_code_or_jit", label.toolkit);
  }

  const Family& family_;
  FamilyVariants& variants_;
  wheel::VariantProperties* properties_ = nullptr;
};

const FamilyBuild* find_build(const FamilyRelease* release, std::string_view label,
                              std::string_view platform) {
  if (release == nullptr) return nullptr;
  for (const FamilyBuild& build : release->builds) {
    if (build.label == label && build.platform == platform) return &build;
  }
  return nullptr;
}

/// A member that goes with several releases was made for the oldest of them that has the label.
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
    const FamilyBuild* build = build_of(family, member, version, name, platform);
    maker.add(*label, build);
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
