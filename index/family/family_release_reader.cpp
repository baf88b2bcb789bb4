// What a family's file says of releases, their builds and their features.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "index/family/family_reader.h"
#include "index/family/family_vendors.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::index {
namespace {

constexpr std::array<std::string_view, 5> platforms = {
    "linux_x86_64", "linux_aarch64", "windows_amd64", "windows_arm64", "macos_arm64"};
constexpr std::string_view intel_macs = "macos_x86_64";  // no release of any file has builds for it
constexpr std::array<std::pair<std::string_view, Confidence>, 5> confidences = {{
    {"unknown", Confidence::unknown},
    {"low", Confidence::low},
    {"medium", Confidence::medium},
    {"high", Confidence::high},
    {"measured", Confidence::measured},
}};

}  // namespace

void FamilyReader::read_ended_platforms() {
  for (auto& [platform, release] : root_.text_pairs("ended-platforms")) {
    if (platform != intel_macs && !contains(platforms, platform))
      root_.refuse("ended-platforms", fmt::format("unknown platform \"{}\"", platform));
    if (!wheel::parse_version(release))
      root_.refuse("ended-platforms", fmt::format("{} is not a version", release));
    family_.ended_platforms.emplace(platform, release);
  }
}

void FamilyReader::read_release(documents::TomlTable& table) {
  FamilyRelease release;
  release.version = table.required_text("version");
  if (!parse_prefix(release)) {
    table.refuse("version", fmt::format("\"{}\" is neither a version such as \"2.14\" nor \"*\"",
                                        release.version));
  }
  // "1.0" and "1.00" are the same.
  if (std::ranges::find(family_.releases, release.prefix, &FamilyRelease::prefix) !=
      family_.releases.end()) {
    table.refuse("version", fmt::format("duplicate release {}", release.version));
  }
  release.date = date(table);
  release.sources = sources(table);
  for (const auto& [member, text] : table.text_pairs("goes-with")) {
    require_member("goes-with", member);
    auto specifiers = wheel::parse_specifiers(text);
    if (!specifiers) {
      table.refuse("goes-with", fmt::format("{}: {}", member, specifiers.error().message));
      continue;
    }
    release.goes_with.emplace(wheel::normalize_name(member), std::move(*specifiers));
  }
  for (const auto& [platform, label] : table.text_pairs("default-index")) {
    if (!contains(platforms, platform))
      table.refuse("default-index", fmt::format("unknown platform \"{}\"", platform));
    if (family_.label(label) == nullptr)
      table.refuse("default-index", fmt::format("label \"{}\" is not defined", label));
    release.default_index.emplace(platform, label);
  }
  read_old_cxx_abi(table, release);
  for (documents::TomlTable& build : table.tables("builds")) read_build(build, release);
  for (const auto& [platform, label] : release.default_index) {
    if (!has_build(release, platform, label)) {
      table.refuse("default-index", fmt::format("there is no build {} for {}", label, platform));
    }
  }
  table.finish();
  family_.releases.push_back(std::move(release));
}

void FamilyReader::read_old_cxx_abi(documents::TomlTable& table, FamilyRelease& release) {
  auto platform_labels = table.table("old-cxx-abi");
  if (!platform_labels) return;
  for (const auto& [key, node] : platform_labels->node()) {
    const std::string platform(key.str());
    std::vector<std::string> labels = platform_labels->texts(platform);
    const bool known = std::ranges::all_of(
        labels, [&](const std::string& label) { return family_.label(label) != nullptr; });
    if (!known || !contains(platforms, platform))
      platform_labels->refuse(platform, "unknown platform, or a label that is not defined");
    release.old_cxx_abi.emplace(platform, std::move(labels));
  }
}

void FamilyReader::read_build(documents::TomlTable& table, FamilyRelease& release) {
  FamilyBuild build;
  build.label = table.required_text("label");
  build.platform = table.required_text("platform");
  const FamilyLabel* label = family_.label(build.label);
  if (label == nullptr) {
    table.refuse("label", fmt::format("label \"{}\" is not defined", build.label),
                 "every label needs a [[labels]] table");
    return;
  }
  if (!contains(platforms, build.platform)) {
    table.refuse("platform", fmt::format("unknown platform \"{}\"", build.platform),
                 fmt::format("known: {}", fmt::join(platforms, ", ")));
  }
  for (const FamilyBuild& other : release.builds) {
    if (other.label == build.label && other.platform == build.platform) {
      table.refuse("label", fmt::format("duplicate {} for {} {}", build.label, release.version,
                                        build.platform));
    }
  }
  const toml::node* code = table.find("code");
  build.code_of_torch = !family_.shares_labels() && code != nullptr && code->is_string() &&
                        code->as_string()->get() == "torch";
  build.code = build.code_of_torch ? std::vector<std::string>{} : facts(table, "code");
  build.ptx = facts(table, "ptx");
  check_code(table, *label, build);
  build.macos = version_pair(table, "macos");
  if (!build.macos.empty() && build.platform != "macos_arm64")
    table.refuse("macos", "macos is only for macos_arm64");
  build.cuda = version_pair(table, "cuda");
  build.driver = table.text("driver").value_or("");
  if (!build.driver.empty() && !is_driver_version(build.driver))
    table.refuse("driver", fmt::format("\"{}\" is not a valid driver version", build.driver));
  build.sources = sources(table);
  build.confidence = confidence(table);
  build.date = table.find("date") == nullptr ? family_.date : date(table);
  build.note = table.text("note").value_or("");
  table.finish();
  release.builds.push_back(std::move(build));
}

void FamilyReader::check_code(documents::TomlTable& table, const FamilyLabel& label,
                              const FamilyBuild& build) {
  const std::string& vendor = label.vendor;
  if (vendor.empty() && ((build.code && !build.code->empty()) || !build.code))
    return table.refuse("code", fmt::format("{} runs everywhere and has no GPU code", label.name));
  if (vendor != "nvidia" && build.ptx && !build.ptx->empty())
    return table.refuse("ptx", "ptx is only for nvidia builds");
  if (!vendor.empty() && build.code && build.code->empty() && !build.code_of_torch)
    return table.refuse("code", "the key is missing: the GPUs that the build has code for",
                        "write \"unknown\" if it is unknown");
  if (build.ptx && !build.ptx->empty() && label.toolkit.empty())
    return table.refuse(
        "ptx",
        fmt::format("the label {} has no toolkit, which determines the driver that PTX needs",
                    label.name));
  const FamilyVendor* row = find_family_vendor(vendor);
  for (const std::string& name : build.code.value_or(std::vector<std::string>{})) {
    if (row == nullptr || !row->is_code(family_, name))
      return table.refuse("code", fmt::format("\"{}\" is not a GPU of {}", name, vendor),
                          row == nullptr ? "" : std::string(row->hint));
  }
  for (const std::string& name : build.ptx.value_or(std::vector<std::string>{})) {
    if (!is_version_pair(name))
      return table.refuse("ptx", fmt::format("\"{}\" is not a valid compute capability", name));
  }
}

void FamilyReader::read_feature(documents::TomlTable& table) {
  FamilyFeature feature;
  feature.name = word(table, "name");
  feature.title = table.required_text("title");
  if (auto releases = wheel::parse_specifiers(table.required_text("releases"))) {
    feature.releases = std::move(*releases);
  } else {
    table.refuse("releases", releases.error().message);
  }
  feature.since = feature_version(table, "since");
  feature.until = feature_version(table, "until");
  if (feature.since && feature.until && *feature.until <= *feature.since)
    table.refuse("until", "the feature ends before it begins");
  read_feature_builds(table, feature);
  read_feature_needs(table, feature);
  feature.sources = sources(table);
  feature.confidence = confidence(table);
  feature.date = table.find("date") == nullptr ? family_.date : date(table);
  feature.note = table.text("note").value_or("");
  table.finish();
  add_feature(table, std::move(feature));
}

std::optional<wheel::Version> FamilyReader::feature_version(documents::TomlTable& table,
                                                            std::string_view key) {
  const auto text = table.text(key);
  if (!text) return std::nullopt;
  auto version = wheel::parse_version(*text);
  if (!version) {
    table.refuse(key, version.error().message);
    return std::nullopt;
  }
  return std::move(*version);
}

void FamilyReader::read_feature_builds(documents::TomlTable& table, FamilyFeature& feature) {
  feature.vendor = table.text("vendor").value_or("");
  check_vendor(table, feature.vendor);
  feature.only = table.flag("only").value_or(false);
  if (feature.only && feature.vendor.empty()) table.refuse("only", "the key vendor is missing");
  feature.labels = table.texts("labels");
  for (const std::string& name : feature.labels) {
    const FamilyLabel* label = family_.label(name);
    if (label == nullptr) {
      table.refuse("labels", fmt::format("label \"{}\" is not defined", name));
    } else if (!feature.vendor.empty() && label->vendor != feature.vendor) {
      table.refuse("labels", fmt::format("the label {} is not one of {}", name, feature.vendor));
    }
  }
  feature.platforms = table.texts("platforms");
  for (const std::string& platform : feature.platforms) {
    if (!contains(platforms, platform))
      table.refuse("platforms", fmt::format("unknown platform \"{}\"", platform));
  }
  feature.toolkit = version_pair(table, "toolkit");
  if (!feature.toolkit.empty() && feature.vendor != "nvidia" && feature.vendor != "amd")
    table.refuse("toolkit", "only builds for nvidia and amd have a toolkit");
}

void FamilyReader::read_feature_needs(documents::TomlTable& table, FamilyFeature& feature) {
  for (const std::string& text : table.texts("needs")) {
    auto property = wheel::parse_property(text);
    if (property) {
      feature.needs.insert(std::move(*property));
    } else {
      table.refuse("needs", property.error().message);
    }
  }
  feature.capability = version_pair(table, "capability");
  if (!feature.capability.empty() && feature.vendor != "nvidia")
    table.refuse("capability", "compute capabilities are only for nvidia");
  feature.cuda = version_pair(table, "cuda");
  if (!feature.cuda.empty() && feature.vendor != "nvidia")
    table.refuse("cuda", "CUDA versions are only for nvidia");
  if (const toml::node* node = table.find("gpus"); node != nullptr) {
    const std::int64_t count = node->is_integer() ? node->as_integer()->get() : 0;
    if (count < 1 || count > 64) table.refuse("gpus", "expected a number from 1 to 64");
    if (feature.vendor.empty()) table.refuse("gpus", "the key vendor is missing");
    feature.gpus = static_cast<unsigned>(std::clamp<std::int64_t>(count, 0, 64));
  }
  feature.discrete = table.flag("discrete").value_or(false);
  if (feature.discrete && feature.vendor.empty())
    table.refuse("discrete", "the key vendor is missing");
  feature.unproven = table.text("unproven").value_or("");
  feature.check = table.text("check").value_or("");
  if (!feature.check.empty() && feature.unproven.empty())
    table.refuse("check", "the key unproven is missing: there is nothing to find out");
}

void FamilyReader::add_feature(documents::TomlTable& table, FamilyFeature feature) {
  const auto same = std::ranges::find(family_.features, feature.name, &FamilyFeature::name);
  if (same != family_.features.end()) {
    if (same->title != feature.title)
      table.refuse("title",
                   fmt::format("the feature {} has a different title above", feature.name));
    if (family_.features.back().name != feature.name)
      table.refuse("name", fmt::format("the entries of {} are not adjacent", feature.name));
  }
  family_.features.push_back(std::move(feature));
}

std::optional<std::vector<std::string>> FamilyReader::facts(documents::TomlTable& table,
                                                            std::string_view key) {
  const toml::node* node = table.find(key);
  if (node == nullptr) return std::vector<std::string>{};
  if (node->is_string()) {
    if (node->as_string()->get() != "unknown")
      table.refuse(key, "expected an array of strings, or \"unknown\"");
    return std::nullopt;
  }
  return table.texts(key);
}

Confidence FamilyReader::confidence(documents::TomlTable& table) {
  const std::string text = table.required_text("confidence");
  for (const auto& [name, value] : confidences) {
    if (name == text) return value;
  }
  if (!text.empty())
    table.refuse("confidence",
                 fmt::format("\"{}\" is not one of measured, high, medium, low, unknown", text));
  return Confidence::unknown;
}

bool FamilyReader::has_build(const FamilyRelease& release, std::string_view platform,
                             std::string_view label) {
  return std::ranges::any_of(release.builds, [&](const FamilyBuild& build) {
    return build.platform == platform && build.label == label;
  });
}

bool FamilyReader::parse_prefix(FamilyRelease& release) {
  if (release.version == "*") return true;
  auto version = wheel::parse_version(release.version);
  if (!version || version->epoch != 0 || version->is_prerelease() || version->post ||
      !version->local.empty()) {
    return false;
  }
  release.prefix = std::move(version->release);
  return true;
}

}  // namespace axle::index
