#pragma once
// What an environment should hold: each package, the file that it comes from, and why that one. The
// resolver makes it, the installer carries it out.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/attestation.h"
#include "plan/decision.h"
#include "wheel/core_metadata.h"
#include "wheel/hash/expected_hash.h"
#include "wheel/hash/listed_hash.h"
#include "wheel/requirement.h"
#include "wheel/version.h"
#include "wheel/wheel_name.h"

namespace axle::plan {

/// What a wheel was built from: a source distribution of an index, or sources that were named by
/// their place.
struct BuiltFrom {
  std::string filename;  ///< of a folder or repository the last part of its path
  std::string url;       ///< http(s) or file; of a repository any of git's, without its login
  std::string sha256;    ///< 64 hex digits, of the bytes of a file; else empty
  std::string builder;   ///< "pip 26.3"
  enum class Kind : std::uint8_t { file, folder, repository } kind = Kind::file;
  std::string subdirectory = {};  ///< of the project in it; empty: itself
  std::string revision = {};      ///< of a repository, as it was requested; may be empty
  std::string commit = {};        ///< of a repository
  bool editable = false;          ///< of a folder: its modules are used where they are (PEP 660)
  /// Somebody listed a hash of the file, which it has.
  bool hash_is_given = false;
  friend bool operator==(const BuiltFrom&, const BuiltFrom&) = default;
};

/// Where the variants of a release are described: `NAME-VERSION-variants.json`.
struct VariantsFile {
  std::string filename;
  std::string url;  ///< http(s) or file
  wheel::ExpectedHash hash;
};

/// What a package requires on a machine: markers hold there, overrides have been applied.
struct Needs {
  std::vector<wheel::Requirement> always;
  /// What each of its extras that are wanted adds.
  std::map<std::string, std::vector<wheel::Requirement>, std::less<>> extras;
};

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
  wheel::WheelName wheel_name;  ///< `filename`, parsed; of what is installed already nothing
  std::string url;              ///< http(s) or file
  std::string origin = {};      ///< what is recorded instead, if `url` is of a copy; else empty
  wheel::ExpectedHash hash;
  std::vector<wheel::ListedHash> listed_hashes;  ///< the file must have one; empty: any will do
  std::optional<std::uint64_t> size;
  std::string source;      ///< index or folder it came from
  std::string provenance;  ///< URL of its attestations (PEP 740); empty: the index names none
  std::optional<AttestationVerdict> attestation;  ///< nullopt: nobody asked for it
  std::optional<VariantsFile> variants_file;      ///< of its release, where that has one
  /// The wheel is none that is published: it was built from this.
  std::optional<BuiltFrom> built_from;
  bool requested = false;          ///< named by the user, else a dependency
  bool direct = false;             ///< from a path or `name @ url`, not from an index
  bool yanked = false;             ///< its file is, which somebody asked for nevertheless
  bool already_installed = false;  ///< satisfied by what is there; nothing to do
  std::vector<wheel::Requirement> dependencies;
  Needs needs;  ///< `dependencies` once more, by what asks for them
  /// What it was chosen by: the wheel's own must say the same.
  std::shared_ptr<const wheel::CoreMetadata> metadata;
  std::vector<std::string> required_by;  ///< "name version", sorted
  /// Distributions that install the same modules, and that others require: it is taken in their
  /// place. Sorted.
  std::vector<std::string> stands_for;
  Decision decision;

  [[nodiscard]] const std::string& recorded_url() const { return origin.empty() ? url : origin; }
};

struct Resolution {
  std::vector<ResolvedPackage> packages = {};  ///< sorted by name
  /// False: it depends on what is installed alone, and nobody was asked what else there is.
  bool asked = true;
  /// Installed packages that are to be removed: others come in their place under other names, or
  /// nothing needs them (variant sync).
  std::vector<std::string> replaced = {};
};

/// "demo 1.0 (variant x86_64_v4)", "demo 1.0 (built from demo-1.0.tar.gz by pip 26.3)" or
/// "demo 1.0"; the label of a family's build stands in the version alone.
[[nodiscard]] std::string render_package(const ResolvedPackage& package);

}  // namespace axle::plan
