#pragma once
// Index families: how torch and others currently publish builds of one release for several kinds of
// hardware: one index per backend, or one page with all of them, and a label such as cu128 in the
// local version or in the folder's name. A family is a data file (docs/families.md) that states
// what each build needs; index/family/family_variants.h converts it to variant metadata.

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

/// How reliable a fact of the file is, according to whoever collected it.
enum class Confidence : std::uint8_t { unknown, low, medium, high, measured };

/// What all builds with one label have in common.
struct FamilyLabel {
  std::string name;     ///< "cu128", "rocm7.2", "cpu"
  std::string vendor;   ///< of a row of family_vendors(): a namespace; empty: runs anywhere
  std::string toolkit;  ///< the CUDA or ROCm version it was built with, "12.8"; may be empty
  std::string cuda;     ///< nvidia: the minimum CUDA version that the driver must run, "12.0"
  std::string driver;   ///< nvidia: the same as a driver version, for messages; may be empty
  std::string driver_windows;  ///< the same of a driver for Windows
  std::string url;             ///< where its builds are, instead of Family::url
  std::vector<std::string> sources;
};

/// One label of one release on one platform.
struct FamilyBuild {
  std::string label;
  std::string platform;  ///< "linux_x86_64", "linux_aarch64", "windows_amd64", "macos_arm64"
  /// Compiled code. nvidia: compute capabilities "8.6"; amd: gfx names; intel: names in
  /// Family::devices. nullopt: unknown.
  std::optional<std::vector<std::string>> code;
  /// nvidia: compute capabilities whose PTX is embedded. nullopt: unknown, which counts as none.
  std::optional<std::vector<std::string>> ptx;
  bool code_of_torch = false;  ///< whatever torch's build has code for; `code` is empty
  std::string macos;           ///< the oldest that its wheels' tags name, "14.0"; may be empty
  std::string cuda;            ///< instead of the label's
  std::string driver;          ///< instead of the label's
  std::vector<std::string> sources;
  Confidence confidence = Confidence::unknown;
  std::string date;  ///< when the fact was collected
  std::string note;
};

/// Releases of the first member, with the matching versions of the others.
struct FamilyRelease {
  std::string version;           ///< "2.14": every 2.14.x; "*": every release
  wheel::ReleaseNumbers prefix;  ///< the same as numbers; empty for "*"
  std::string date;
  std::vector<std::string> sources;
  /// Versions of the other members that were made for these releases.
  std::map<std::string, wheel::SpecifierSet, std::less<>> goes_with;
  /// platform -> the label that the default index's plain wheel corresponds to.
  std::map<std::string, std::string, std::less<>> default_index;
  /// platform -> labels of the first member's builds that use libstdc++'s older C++ ABI; the others
  /// there use the newer one. A platform that is missing: not known.
  std::map<std::string, std::vector<std::string>, std::less<>> old_cxx_abi;
  std::vector<FamilyBuild> builds;
};

/// What one feature of the first member needs of a build and a machine. Several entries with one
/// name are alternatives: the feature is usable if one of them is.
struct FamilyFeature {
  std::string name;   ///< "xccl"
  std::string title;  ///< for display
  /// The releases for which the fact is known.
  wheel::SpecifierSet releases;
  std::optional<wheel::Version> since;  ///< releases before it do not have the feature
  std::optional<wheel::Version> until;  ///< from this release on it is gone
  std::string vendor;                   ///< the builds that have it; empty: any build
  bool only = false;                    ///< no other vendor's builds have it; otherwise unknown
  std::vector<std::string> labels;      ///< only these builds; empty: all of the vendor
  std::vector<std::string> platforms;   ///< empty: all
  std::string toolkit;  ///< the minimum of what the build was built with, "7.0"; empty: any
  /// As in a variant: for each feature one value must be supported.
  wheel::VariantProperties needs;
  std::string capability;  ///< nvidia: the minimum compute capability, "8.9"; empty: any
  std::string cuda;        ///< nvidia: the minimum CUDA version of the driver, "12.4"; empty: any
  unsigned gpus = 0;       ///< minimum number of usable GPUs of the vendor
  bool discrete = false;   ///< GPUs that are parts of CPUs do not count
  /// Further requirements that no fact of a machine shows; the answer is then at best unknown.
  std::string unproven;
  std::string check;  ///< how to find out what `unproven` leaves open; may be empty
  std::vector<std::string> sources;
  Confidence confidence = Confidence::unknown;
  std::string date;
  std::string note;
};

/// What tells the builds of one version apart.
enum class LabelPlace : std::uint8_t {
  version,    ///< the local version is the label
  folder,     ///< the text in place of "{label}" in the URL is
  built_for,  ///< the local version has the label and the release of torch: "pt213cu130"
};

/// What a family's URL may have in braces.
inline constexpr std::string_view label_mark = "{label}";
inline constexpr std::string_view version_mark = "{version}";
inline constexpr std::string_view torch_mark = "{torch}";

struct Family {
  std::string name;
  std::string where;  ///< the file, or "the shipped family NAME"
  /// Of an index whose pages list the files of every label, or a template: "{label}" stands for
  /// each label, "{version}" for a release of the member that is asked for, "{torch}" for whatever
  /// `page_list` links to.
  std::string url;
  bool links = false;     ///< the URL is of pages with links to files, not of an index
  std::string page_list;  ///< the page with links to those of the template; relative to the URL
  wheel::SpecifierSet torch_pages;  ///< the releases of torch of which the pages are read
  LabelPlace label_in = LabelPlace::version;
  std::vector<std::string> members;     ///< normalised; the builds are those of the first
  std::vector<std::string> unlabelled;  ///< normalised: only this index has them, without labels
  std::vector<std::string> fallback;    ///< labels that are only used if no other build fits
  std::map<std::string, std::string, std::less<>>
      ended;  ///< member -> its last release of members[0]
  std::map<std::string, std::string, std::less<>>
      ended_platforms;  ///< platform -> the last release of members[0] with builds for it
  std::string date;     ///< when the facts were collected
  std::map<std::string, std::string, std::less<>> sources;
  std::map<std::string, std::vector<std::string>, std::less<>> devices;  ///< name -> device IPs
  std::vector<FamilyLabel> labels;                                       ///< best first
  std::vector<FamilyRelease> releases;                                   ///< newest first
  std::vector<FamilyFeature> features;  ///< in the file's order, those with one name together

  [[nodiscard]] const std::string& anchor() const { return members.front(); }
  [[nodiscard]] bool has_member(std::string_view project) const;
  [[nodiscard]] bool has_project(std::string_view project) const;  ///< member or unlabelled
  /// Of LabelPlace::built_for: the one whose name is a word of `name`.
  [[nodiscard]] const FamilyLabel* label(std::string_view name) const;
  /// One release has a page, or a page a label, of its own.
  [[nodiscard]] bool is_by_release() const;
  /// All members have one label, that of the first: their labels are comparable.
  [[nodiscard]] bool shares_labels() const { return label_in != LabelPlace::built_for; }
  [[nodiscard]] bool is_fallback(std::string_view name) const;
};

/// `where` is named in errors. Errors: malformed (line and key), unsupported (a newer schema).
[[nodiscard]] Result<Family> parse_family(std::string_view toml, std::string where);

/// "version", "folder", "built-for": as files write it.
[[nodiscard]] std::string_view render_label_place(LabelPlace place);
/// "measured", "confidence high", …
[[nodiscard]] std::string_view render_confidence(Confidence confidence);
/// The texts behind the keys, joined by "; ".
[[nodiscard]] std::string render_sources(const Family& family,
                                         const std::vector<std::string>& keys);

/// What is wrong with `url` as a family's; nullopt: nothing.
[[nodiscard]] std::optional<std::string> fault_of_family_url(const Family& family,
                                                             std::string_view url);

/// The local version of `version`, normalised ("cu128"): the label if the family uses it for that.
/// Empty if there is none.
[[nodiscard]] std::string local_label(const wheel::Version& version);

/// The file's entry for `version` of `member`: for the first member the longest matching prefix,
/// for another the newest release that it belongs to. nullptr: none.
[[nodiscard]] const FamilyRelease* find_release(const Family& family, std::string_view member,
                                                const wheel::Version& version);

/// Sets the label of each file that has one (PublishedFile::label). `known_only`: labels that the
/// family does not list are ignored, as on a page that is not the family's own.
void label_files(const Family& family, ProjectPage& page, bool known_only);

/// The platform of a wheel's tags ("cp311-cp311-manylinux_2_28_x86_64"), or of a machine
/// ("linux_x86_64"), in the form of FamilyBuild; empty for "any" and for platforms without builds
/// in any family.
[[nodiscard]] std::string family_platform(std::string_view tags_text);

}  // namespace axle::index
