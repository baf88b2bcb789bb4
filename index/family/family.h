#pragma once
// Index families: how torch and others publish builds of one release for several kinds of hardware
// today: one index a backend, or one page with all of them, and a label such as cu128 in the local
// version or in the folder's name. A family is a data file (docs/families.md) that states what each
// build needs; index/family/family_variants.h makes variant metadata of it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/pages/page.h"
#include "wheel/specifier.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/version.h"

namespace axle::index {

/// How far a fact of the file can be trusted, as whoever collected it says.
enum class Confidence : std::uint8_t { unknown, low, medium, high, measured };

/// What all builds of one label have in common.
struct FamilyLabel {
  std::string name;     ///< "cu128", "rocm7.2", "cpu"
  std::string vendor;   ///< "nvidia", "amd", "intel": a namespace; empty: runs anywhere
  std::string toolkit;  ///< the CUDA or ROCm version it was built with, "12.8"; may be empty
  std::string cuda;     ///< nvidia: the least CUDA version that the driver must run, "12.0"
  std::string driver;   ///< nvidia: the same as a driver version, for people; may be empty
  std::vector<std::string> sources;
};

/// One label of one release on one platform.
struct FamilyBuild {
  std::string label;
  std::string platform;  ///< "linux_x86_64", "linux_aarch64", "windows_amd64", "macos_arm64"
  /// Compiled code. nvidia: compute capabilities "8.6"; amd: gfx names; intel: names in
  /// Family::devices. nullopt: not known.
  std::optional<std::vector<std::string>> code;
  /// nvidia: compute capabilities whose PTX is embedded. nullopt: not known, which counts as none.
  std::optional<std::vector<std::string>> ptx;
  std::string cuda;    ///< instead of the label's
  std::string driver;  ///< instead of the label's
  std::vector<std::string> sources;
  Confidence confidence = Confidence::unknown;
  std::string date;  ///< when the fact was collected
  std::string note;
};

/// Releases of the first member, with what goes with them.
struct FamilyRelease {
  std::string version;                ///< "2.14": every 2.14.x; "*": every release
  std::vector<std::uint64_t> prefix;  ///< the same as numbers; empty for "*"
  std::string date;
  std::vector<std::string> sources;
  /// Versions of the other members that were made for these releases.
  std::map<std::string, wheel::SpecifierSet, std::less<>> goes_with;
  /// platform -> the label that the default index's plain wheel corresponds to.
  std::map<std::string, std::string, std::less<>> default_index;
  std::vector<FamilyBuild> builds;
};

/// What one feature of the first member needs of a build and a machine. Several entries of one name
/// are alternatives: the feature is usable where one of them is.
struct FamilyFeature {
  std::string name;   ///< "xccl"
  std::string title;  ///< for people
  /// For which releases the fact is known; of others nothing is.
  wheel::SpecifierSet releases;
  std::optional<wheel::Version> since;  ///< releases before it do not have the feature
  std::string vendor;                   ///< of the builds that have it; empty: any build
  bool only = false;                ///< no other vendor's builds have it; else they are not known
  std::vector<std::string> labels;  ///< those builds alone; empty: all of the vendor
  std::vector<std::string> platforms;  ///< empty: all
  /// As of a variant: of each feature named one value must be supported.
  wheel::VariantProperties needs;
  std::string capability;  ///< nvidia: the least compute capability, "8.9"; empty: any
  unsigned gpus = 0;       ///< usable GPUs of the vendor, at least
  /// What is needed besides and no fact of a machine tells; the answer is then at best unknown.
  std::string unproven;
  std::vector<std::string> sources;
  Confidence confidence = Confidence::unknown;
  std::string date;
  std::string note;
};

struct Family {
  std::string name;
  std::string where;  ///< the file, or "the shipped family NAME"
  /// Of an index whose pages list the files of every label; with "{label}" in it of one index a
  /// label.
  std::string url;
  bool label_in_version = true;         ///< else the folder's name is the label
  std::vector<std::string> members;     ///< normalised; the builds are those of the first
  std::vector<std::string> unlabelled;  ///< normalised: only this index has them, without labels
  std::vector<std::string> fallback;    ///< labels that count only where no other build fits
  std::map<std::string, std::string, std::less<>>
      ended;         ///< member -> its last release of members[0]
  std::string date;  ///< when the facts were collected
  std::map<std::string, std::string, std::less<>> sources;
  std::map<std::string, std::vector<std::string>, std::less<>> devices;  ///< name -> device IPs
  std::vector<FamilyLabel> labels;                                       ///< best first
  std::vector<FamilyRelease> releases;                                   ///< newest first
  std::vector<FamilyFeature> features;  ///< in the file's order, those of one name together

  [[nodiscard]] const std::string& anchor() const { return members.front(); }
  [[nodiscard]] bool has_member(std::string_view project) const;
  [[nodiscard]] bool has_project(std::string_view project) const;  ///< member or unlabelled
  [[nodiscard]] const FamilyLabel* label(std::string_view name) const;
  [[nodiscard]] bool is_fallback(std::string_view name) const;
};

/// `where` is named in errors. Errors: malformed (line and key), unsupported (a newer schema).
[[nodiscard]] Result<Family> parse_family(std::string_view toml, std::string where);

/// "measured", "confidence high", …
[[nodiscard]] std::string_view render_confidence(Confidence confidence);
/// The texts behind the keys, joined by "; ".
[[nodiscard]] std::string render_sources(const Family& family,
                                         const std::vector<std::string>& keys);

/// What is wrong with a family's URL; nullopt: nothing.
[[nodiscard]] std::optional<std::string> fault_of_family_url(std::string_view url);

/// The local version of `version`, normalised ("cu128"): the label where a family keeps it there.
/// Empty when there is none.
[[nodiscard]] std::string local_label(const wheel::Version& version);

/// What the file says of `version` of `member`: for the first member the longest prefix that fits,
/// for another the newest release that it goes with. nullptr: nothing.
[[nodiscard]] const FamilyRelease* find_release(const Family& family, std::string_view member,
                                                const wheel::Version& version);

/// Gives each file that bears one its label (PublishedFile::label). `known_only`: labels that the
/// family does not list are left alone, as on a page that is not the family's own.
void label_files(const Family& family, ProjectPage& page, bool known_only);

/// The platform of a wheel's tags ("cp311-cp311-manylinux_2_28_x86_64"), or of a machine
/// ("linux_x86_64"), as FamilyBuild has it; empty for "any" and for those that no family has builds
/// for.
[[nodiscard]] std::string family_platform(std::string_view tags_text);

}  // namespace axle::index
