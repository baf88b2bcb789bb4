// Reads family files key by key (docs/families.md). Anything unknown is rejected: a misread fact
// would choose a build for a machine that cannot run it.

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "foundation/documents/toml_reader.h"
#include "index/family/family.h"
#include "index/family/family_vendors.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::index {
namespace {

constexpr std::int64_t newest_schema = 1;
constexpr std::size_t max_bytes = 8U << 20;

constexpr std::array<std::string_view, 4> platforms = {"linux_x86_64", "linux_aarch64",
                                                       "windows_amd64", "macos_arm64"};
constexpr std::array<std::pair<std::string_view, Confidence>, 5> confidences = {{
    {"unknown", Confidence::unknown},
    {"low", Confidence::low},
    {"medium", Confidence::medium},
    {"high", Confidence::high},
    {"measured", Confidence::measured},
}};

bool contains(const auto& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// "580", "525.60.13"
bool is_driver(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.front() != '.' && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_' || c == '.' || c == '-';
  });
}

/// The reader of one file. Errors are passed to the reading, which keeps the first.
class FamilyReader {
 public:
  FamilyReader(const toml::table& document, std::string where)
      : reading_(where), root_(document, "", reading_) {
    family_.where = std::move(where);
  }

  Result<Family> read() {
    if (!read_schema()) return std::unexpected(*reading_.error());
    read_head();
    read_sources();
    read_devices();
    for (documents::TomlTable& table : root_.tables("labels")) read_label(table);
    for (const std::string& name : family_.fallback) {
      if (family_.label(name) == nullptr)
        root_.refuse("fallback", fmt::format("label \"{}\" is not defined", name));
    }
    for (documents::TomlTable& table : root_.tables("releases")) read_release(table);
    for (documents::TomlTable& table : root_.tables("features")) read_feature(table);
    root_.finish();
    if (reading_.error()) return std::unexpected(*reading_.error());
    return std::move(family_);
  }

 private:
  bool read_schema() {
    const toml::node* node = root_.find("schema");
    if (node == nullptr || !node->is_integer()) {
      root_.refuse("schema", node == nullptr ? "the key is missing" : "expected a number",
                   "write `schema = 1`");
      return false;
    }
    const std::int64_t schema = node->as_integer()->get();
    if (schema == newest_schema) return true;
    root_.refuse("schema",
                 fmt::format("schema {} is not supported, only {}", schema, newest_schema),
                 "a newer version of Axle may read the file", ErrorKind::unsupported);
    return false;
  }

  void read_head() {
    family_.name = word(root_, "name");
    family_.url = root_.required_text("url");
    while (family_.url.ends_with('/')) family_.url.pop_back();
    if (const auto fault = fault_of_family_url(family_.url)) root_.refuse("url", *fault);
    const std::string place = root_.required_text("label-in");
    family_.label_in_version = place != "folder";
    if (!place.empty() && place != "folder" && place != "version")
      root_.refuse("label-in", fmt::format("\"{}\" is neither \"version\" nor \"folder\"", place));
    if (place == "folder" && !family_.url.contains("{label}")) {
      root_.refuse("url", "labels are folders, but the URL has no {label}");
    }
    family_.members = projects(root_, "members");
    if (family_.members.empty()) root_.refuse("members", "there are no members");
    family_.unlabelled = projects(root_, "unlabelled");
    family_.fallback = root_.texts("fallback");
    for (auto& [member, release] : root_.text_pairs("ended")) {
      require_member("ended", member);
      family_.ended.emplace(wheel::normalize_name(member), release);
    }
    family_.date = date(root_);
    for (const std::string& project : family_.unlabelled) {
      if (contains(family_.members, project))
        root_.refuse("unlabelled", fmt::format("{} is a member", project));
    }
  }

  void read_sources() {
    for (auto& [key, text] : root_.text_pairs("sources")) {
      if (text.empty()) root_.refuse("sources", fmt::format("{} is not a defined source", key));
      family_.sources.emplace(key, text);
    }
  }

  void read_devices() {
    auto table = root_.table("devices");
    if (!table) return;
    for (const auto& [key, node] : table->node()) {
      family_.devices.emplace(key.str(), table->texts(key.str()));
    }
  }

  void check_vendor(documents::TomlTable& table, const std::string& vendor) {
    if (vendor.empty() || find_family_vendor(vendor) != nullptr) return;
    std::string words;
    for (const FamilyVendor& row : family_vendors())
      words += (words.empty() ? "" : ", ") + std::string(row.word);
    table.refuse("vendor", fmt::format("\"{}\" is not one of {}", vendor, words));
  }

  void read_label(documents::TomlTable& table) {
    FamilyLabel label;
    label.name = table.required_text("name");
    if (!label.name.empty() && !wheel::is_valid_label(label.name))
      table.refuse("name", fmt::format("\"{}\" is not a valid variant label (a-z, 0-9, _ and .)",
                                       label.name));
    if (label.name.starts_with('.'))
      table.refuse("name", "a label that is part of a URL must not begin with a dot");
    if (family_.label(label.name) != nullptr)
      table.refuse("name", fmt::format("duplicate label {}", label.name));
    label.vendor = table.text("vendor").value_or("");
    check_vendor(table, label.vendor);
    const bool nvidia = label.vendor == "nvidia";
    label.toolkit = nvidia ? version_pair(table, "toolkit") : table.text("toolkit").value_or("");
    label.cuda = version_pair(table, "cuda");
    label.driver = table.text("driver").value_or("");
    for (const auto& [key, value] :
         {std::pair("toolkit", &label.toolkit), std::pair("cuda", &label.cuda),
          std::pair("driver", &label.driver)}) {
      if (nvidia && value->empty()) table.refuse(key, "the key is missing");
    }
    if (!label.driver.empty() && !is_driver(label.driver))
      table.refuse("driver", fmt::format("\"{}\" is not a valid driver version", label.driver));
    if (!nvidia && !(label.cuda + label.driver).empty())
      table.refuse("vendor", "cuda and driver are only for nvidia labels");
    label.sources = sources(table);
    table.finish();
    family_.labels.push_back(std::move(label));
  }

  void read_release(documents::TomlTable& table) {
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
    for (documents::TomlTable& build : table.tables("builds")) read_build(build, release);
    for (const auto& [platform, label] : release.default_index) {
      if (!has_build(release, platform, label)) {
        table.refuse("default-index", fmt::format("there is no build {} for {}", label, platform));
      }
    }
    table.finish();
    family_.releases.push_back(std::move(release));
  }

  void read_build(documents::TomlTable& table, FamilyRelease& release) {
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
    build.code = facts(table, "code");
    build.ptx = facts(table, "ptx");
    check_code(table, *label, build);
    build.cuda = version_pair(table, "cuda");
    build.driver = table.text("driver").value_or("");
    if (!build.driver.empty() && !is_driver(build.driver))
      table.refuse("driver", fmt::format("\"{}\" is not a valid driver version", build.driver));
    build.sources = sources(table);
    build.confidence = confidence(table);
    build.date = table.find("date") == nullptr ? family_.date : date(table);
    build.note = table.text("note").value_or("");
    table.finish();
    release.builds.push_back(std::move(build));
  }

  void check_code(documents::TomlTable& table, const FamilyLabel& label, const FamilyBuild& build) {
    const std::string& vendor = label.vendor;
    if (vendor.empty() && ((build.code && !build.code->empty()) || !build.code))
      return table.refuse("code",
                          fmt::format("{} runs everywhere and has no GPU code", label.name));
    if (vendor != "nvidia" && build.ptx && !build.ptx->empty())
      return table.refuse("ptx", "ptx is only for nvidia builds");
    if (!vendor.empty() && build.code && build.code->empty())
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

  void read_feature(documents::TomlTable& table) {
    FamilyFeature feature;
    feature.name = word(table, "name");
    feature.title = table.required_text("title");
    if (auto releases = wheel::parse_specifiers(table.required_text("releases"))) {
      feature.releases = std::move(*releases);
    } else {
      table.refuse("releases", releases.error().message);
    }
    if (const auto since = table.text("since")) {
      auto version = wheel::parse_version(*since);
      if (!version) table.refuse("since", version.error().message);
      if (version) feature.since = std::move(*version);
    }
    read_feature_builds(table, feature);
    read_feature_needs(table, feature);
    feature.sources = sources(table);
    feature.confidence = confidence(table);
    feature.date = table.find("date") == nullptr ? family_.date : date(table);
    feature.note = table.text("note").value_or("");
    table.finish();
    add_feature(table, std::move(feature));
  }

  void read_feature_builds(documents::TomlTable& table, FamilyFeature& feature) {
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
  }

  void read_feature_needs(documents::TomlTable& table, FamilyFeature& feature) {
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
    if (const toml::node* node = table.find("gpus"); node != nullptr) {
      const std::int64_t count = node->is_integer() ? node->as_integer()->get() : 0;
      if (count < 1 || count > 64) table.refuse("gpus", "expected a number from 1 to 64");
      if (feature.vendor.empty()) table.refuse("gpus", "the key vendor is missing");
      feature.gpus = static_cast<unsigned>(std::clamp<std::int64_t>(count, 0, 64));
    }
    feature.unproven = table.text("unproven").value_or("");
  }

  void add_feature(documents::TomlTable& table, FamilyFeature feature) {
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

  /// A list, or "unknown" (nullopt). A missing key is an empty list.
  std::optional<std::vector<std::string>> facts(documents::TomlTable& table, std::string_view key) {
    const toml::node* node = table.find(key);
    if (node == nullptr) return std::vector<std::string>{};
    if (node->is_string()) {
      if (node->as_string()->get() != "unknown")
        table.refuse(key, "expected an array of strings, or \"unknown\"");
      return std::nullopt;
    }
    return table.texts(key);
  }

  std::vector<std::string> sources(documents::TomlTable& table) {
    std::vector<std::string> keys = table.texts("source");
    if (keys.empty()) {
      table.refuse("source", "the fact has no source",
                   "list one or more of the keys under [sources]");
    }
    for (const std::string& key : keys) {
      if (!family_.sources.contains(key))
        table.refuse("source", fmt::format("source \"{}\" is not defined", key),
                     "define it under [sources]");
    }
    return keys;
  }

  Confidence confidence(documents::TomlTable& table) {
    const std::string text = table.required_text("confidence");
    for (const auto& [name, value] : confidences) {
      if (name == text) return value;
    }
    if (!text.empty())
      table.refuse("confidence",
                   fmt::format("\"{}\" is not one of measured, high, medium, low, unknown", text));
    return Confidence::unknown;
  }

  std::string version_pair(documents::TomlTable& table, std::string_view key) {
    std::string text = table.text(key).value_or("");
    if (!text.empty() && !is_version_pair(text))
      table.refuse(key, fmt::format("\"{}\" is not a valid version such as 12.8", text));
    return text;
  }

  std::string word(documents::TomlTable& table, std::string_view key) {
    std::string text = table.required_text(key);
    if (!text.empty() && !is_word(text))
      table.refuse(key, fmt::format("\"{}\" is not a valid name (a-z, 0-9, -, _ and .)", text));
    return text;
  }

  std::vector<std::string> projects(documents::TomlTable& table, std::string_view key) {
    std::vector<std::string> names;
    for (const std::string& text : table.texts(key)) {
      if (!wheel::is_valid_name(text)) {
        table.refuse(key, fmt::format("\"{}\" is not a valid package name", text));
        continue;
      }
      std::string name = wheel::normalize_name(text);
      if (contains(names, name)) table.refuse(key, fmt::format("duplicate {}", name));
      names.push_back(std::move(name));
    }
    return names;
  }

  void require_member(std::string_view key, std::string_view name) {
    const std::string normalised = wheel::normalize_name(name);
    if (!contains(family_.members, normalised)) {
      root_.refuse(key, fmt::format("{} is not among the members", name));
    } else if (normalised == family_.members.front()) {
      root_.refuse(key, fmt::format("{} is the first member, which the others depend on", name));
    }
  }

  /// YYYY-MM or YYYY-MM-DD.
  static std::string date(documents::TomlTable& table) {
    std::string text = table.required_text("date");
    const auto has_form = [&](std::string_view form) {
      return text.size() == form.size() && std::ranges::equal(text, form, [](char c, char f) {
               return f == '-' ? c == '-' : c >= '0' && c <= '9';
             });
    };
    if (!text.empty() && !has_form("0000-00") && !has_form("0000-00-00"))
      table.refuse("date", fmt::format("\"{}\" is not a date such as 2026-11 or 2026-11-20", text));
    return text;
  }

  static bool has_build(const FamilyRelease& release, std::string_view platform,
                        std::string_view label) {
    return std::ranges::any_of(release.builds, [&](const FamilyBuild& build) {
      return build.platform == platform && build.label == label;
    });
  }

  static bool parse_prefix(FamilyRelease& release) {
    if (release.version == "*") return true;
    auto version = wheel::parse_version(release.version);
    if (!version || version->epoch != 0 || version->is_prerelease() || version->post ||
        !version->local.empty()) {
      return false;
    }
    release.prefix = std::move(version->release);
    return true;
  }

  documents::TomlReading reading_;
  documents::TomlTable root_;
  Family family_;
};

}  // namespace

std::optional<std::string> fault_of_family_url(std::string_view url) {
  if (url.empty()) return "the key is missing";
  if (!is_http_url(url) && !is_file_url(url) && !url.starts_with('/'))
    return fmt::format("\"{}\" is neither an http(s) or file URL nor an absolute path",
                       redact_url(url));
  return std::nullopt;
}

Result<Family> parse_family(std::string_view toml, std::string where) {
  if (toml.size() > max_bytes) {
    return fail(ErrorKind::malformed,
                fmt::format("{} has {} bytes, too large for a family", where, toml.size()));
  }
  auto document = documents::parse_toml(toml, where);
  if (!document) return std::unexpected(std::move(document).error());
  return FamilyReader(*document, std::move(where)).read();
}

}  // namespace axle::index
