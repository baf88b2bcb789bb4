#pragma once
// The reader of family files, key by key (docs/families.md). Anything unknown is rejected: a
// misread fact would choose a build for a machine that cannot run it.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/documents/toml_reader.h"
#include "foundation/report/error.h"
#include "index/family/family.h"

namespace axle::index {

[[nodiscard]] bool contains(const auto& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// "580", "525.60.13"
[[nodiscard]] bool is_driver_version(std::string_view text);

/// The reader of one file. Errors are passed to the reading, which keeps the first.
class FamilyReader {
 public:
  FamilyReader(const toml::table& document, std::string where);
  Result<Family> read();

 private:
  void read_head();
  /// Where the builds are listed, and what tells them apart.
  void read_pages();
  void read_sources();
  void read_devices();
  void check_vendor(documents::TomlTable& table, const std::string& vendor);
  void read_label(documents::TomlTable& table);
  void read_ended_platforms();
  void read_release(documents::TomlTable& table);
  void read_old_cxx_abi(documents::TomlTable& table, FamilyRelease& release);
  void read_build(documents::TomlTable& table, FamilyRelease& release);
  void check_code(documents::TomlTable& table, const FamilyLabel& label, const FamilyBuild& build);
  void read_feature(documents::TomlTable& table);
  static std::optional<wheel::Version> feature_version(documents::TomlTable& table,
                                                       std::string_view key);
  void read_feature_builds(documents::TomlTable& table, FamilyFeature& feature);
  void read_feature_needs(documents::TomlTable& table, FamilyFeature& feature);
  void add_feature(documents::TomlTable& table, FamilyFeature feature);
  /// A list, or "unknown" (nullopt). A missing key is an empty list.
  std::optional<std::vector<std::string>> facts(documents::TomlTable& table, std::string_view key);
  std::vector<std::string> sources(documents::TomlTable& table);
  Confidence confidence(documents::TomlTable& table);
  std::string version_pair(documents::TomlTable& table, std::string_view key);
  std::string word(documents::TomlTable& table, std::string_view key);
  std::vector<std::string> projects(documents::TomlTable& table, std::string_view key);
  void require_member(std::string_view key, std::string_view name);
  /// YYYY-MM or YYYY-MM-DD.
  static std::string date(documents::TomlTable& table);
  static bool has_build(const FamilyRelease& release, std::string_view platform,
                        std::string_view label);
  static bool parse_prefix(FamilyRelease& release);

  documents::TomlReading reading_;
  documents::TomlTable root_;
  Family family_;
};

}  // namespace axle::index
