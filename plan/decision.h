#pragma once
// A decision is data: what was chosen, what else was ranked, what was rejected and which fact of
// the machine said no. --explain, --json and the errors all render it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/fact.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::plan {

/// One feature of a variant at its best supported value; lower is better.
struct RankKey {
  std::size_t ns = 0;       ///< index in the namespace priorities
  std::size_t feature = 0;  ///< index in the provider's order (0.0.x tables first)
  std::size_t value = 0;
  friend auto operator<=>(const RankKey&, const RankKey&) = default;
};

/// Why a namespace has the list of supported properties that it has.
enum class ListOrigin : std::uint8_t {
  disabled,
  static_list,
  user_list,
  builtin,
  plugin,
  untrusted,  ///< a plugin that nobody trusts: not run
  failed,     ///< a trusted plugin that gave no lists
  none,
};

/// "static", "built in", …: as --explain and JSON say it.
[[nodiscard]] std::string_view render_origin(ListOrigin origin);

struct NamespaceOrigin {
  std::string ns;
  ListOrigin origin = ListOrigin::none;
  std::string detail;    ///< provider and version, or why there is none
  bool by_user = false;  ///< of a disabled one: who could switch it on is the user
};

struct Verdict {
  std::string label;
  wheel::Property property;   ///< the property that decided
  std::string reason;         ///< why not, in the metadata's terms
  Facts facts;                ///< of the machine: "the CPU lacks amx_int8"; may be empty
  std::string evidence = {};  ///< of a family's build: what it was built for, and who says so
};

/// A supported property that counted, and what the machine has of it.
struct DecidingProperty {
  wheel::Property property;
  Facts facts;  ///< empty where no provider of Axle's knows the namespace
};

/// A variant that fits, with the properties that gave it its rank.
struct Fit {
  std::string label;
  std::vector<RankKey> keys;                 ///< ascending
  std::vector<DecidingProperty> properties;  ///< one a key, in their order
  std::string evidence = {};                 ///< as in Verdict
};

/// Why a file of a release was left out before anything was ranked.
enum class SkipCode : std::uint8_t {
  name,           ///< not the name of a wheel
  other_release,  ///< the name of a wheel of another release
  other_version,  ///< of the release, with a local version that is not wanted
  yanked,
  python,         ///< its Requires-Python excludes this Python
  tags,           ///< its tags do not fit the interpreter or the platform
  plain_only,     ///< a variant, and plain wheels were asked for
  forbidden,      ///< --no-binary: only what is built from source counts
  withheld,       ///< another build is to be taken: --minimize builds, --budget
  abi,            ///< --check-abi found that it does not go with what was chosen
  hash,           ///< not among the hashes that the user lists
  unknown_needs,  ///< of a family that does not know what it needs
  label_unknown,  ///< its label is not in the metadata
  fallback,       ///< counts only where nothing else fits
  metadata,       ///< the metadata of its variants cannot be used
};

/// "tags", "unknown-needs", …: as JSON says it.
[[nodiscard]] std::string_view render_skip(SkipCode code);

struct SkippedFile {
  std::string filename;
  SkipCode code = SkipCode::name;
  std::string reason;  ///< "its tags cp310-… do not fit", "label x is not in the metadata", …
};

struct Decision {
  bool has_variants = false;    ///< the release has variant metadata that was used
  std::string metadata_source;  ///< URL of the variants file, or "the wheels' own metadata"
  std::vector<NamespaceOrigin> origins;
  /// Which of the machine's GPUs counted, as --gpu-policy spells it; empty where no other policy
  /// could have decided otherwise.
  std::string gpu_policy;
  std::vector<Fit> ranked;  ///< best first; those with a wheel whose tags fit
  std::vector<Verdict> rejected;
  std::vector<SkippedFile> skipped;
  /// One clause: "x86_64 :: level :: v4 is supported and ranks first".
  std::string chosen_because;
};

}  // namespace axle::plan
