#pragma once
// A decision is data: what was chosen, what else was ranked, what was rejected and which fact of
// the machine said no. --explain, --json and the errors all render it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "resolver/choice/provider_algorithm.h"
#include "resolver/choice/ranking.h"
#include "wheel/core_metadata.h"
#include "wheel/hash/listed_hash.h"
#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::resolver {

struct Verdict {
  std::string label;
  wheel::Property property;   ///< the property that decided
  std::string reason;         ///< why not, in the metadata's terms
  std::string fact;           ///< the fact of the machine: "the CPU lacks amx_int8"; may be empty
  std::string evidence = {};  ///< of a family's build: what it was built for, and who says so
};

/// A variant that fits, with the properties that gave it its rank.
struct Fit {
  std::string label;
  std::vector<RankKey> keys;                ///< ascending
  std::vector<wheel::Property> properties;  ///< `deciding_properties`: one a key, in their order
  std::string evidence = {};                ///< as in Verdict
};

struct SkippedFile {
  std::string filename;
  std::string reason;  ///< "tags cp310-… do not fit", "label x is not in the metadata", "yanked", …
  bool unknown_build = false;  ///< of a family that does not know what it needs
};

struct Decision {
  bool has_variants = false;    ///< the release has variant metadata that was used
  std::string metadata_source;  ///< URL of the variants file, or "the wheels' own metadata"
  std::vector<NamespaceOrigin> origins;
  providers::GpuPolicy gpus = {};  ///< which of the machine's GPUs counted
  bool gpus_matter = false;        ///< another policy could have decided otherwise
  std::vector<Fit> ranked;         ///< best first; those with a wheel whose tags fit
  std::vector<Verdict> rejected;
  std::vector<SkippedFile> skipped;
  /// One clause: "x86_64 :: level :: v4 is supported and ranks first".
  std::string chosen_because;
};

/// One package of the outcome.
struct ResolvedPackage {
  std::string name;  ///< normalised
  wheel::Version version;
  std::optional<std::string> variant;  ///< label; nullopt for a plain wheel
  std::string family;                  ///< of an index family whose label `variant` is; else empty
  /// What the metadata says of `variant`: the wheel's own variant.json must say the same.
  wheel::VariantProperties variant_properties;
  /// Those of them that the machine supports: what variant markers see.
  wheel::VariantProperties supported_properties;
  std::string filename;
  std::string url;               ///< http(s) or file
  std::string sha256;            ///< empty when the index gives none and none was kept
  bool sha256_is_first = false;  ///< the index gives none: that of the first download from `url`
  std::string other_hash;        ///< "sha512=<hex digits>", where there is no sha256; may be empty
  std::vector<wheel::ListedHash> listed_hashes;  ///< the file must have one; empty: any will do
  std::optional<std::uint64_t> size;
  std::string source;              ///< index or folder it came from
  bool requested = false;          ///< named by the user, else a dependency
  bool direct = false;             ///< from a path or `name @ url`, not from an index
  bool already_installed = false;  ///< satisfied by what is there; nothing to do
  std::vector<wheel::Requirement> dependencies;
  /// What it was chosen by: the wheel's own must say the same.
  std::shared_ptr<const wheel::CoreMetadata> metadata;
  std::vector<std::string> required_by;  ///< "name version", sorted
  Decision decision;
};

struct Resolution {
  std::vector<ResolvedPackage> packages;  ///< sorted by name
};

}  // namespace axle::resolver
