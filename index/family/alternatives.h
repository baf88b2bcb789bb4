#pragma once
// Distributions that install the same modules under several names (onnxruntime, onnxruntime-gpu):
// at most one of them can be in an environment. The files of index/alternatives, compiled in;
// docs/alternatives.md has their format.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::index {

struct AlternativeMember {
  std::string project;              ///< normalised
  std::vector<std::string> extras;  ///< it is the project with these
  /// Of a machine; as in a variant, one value of each feature must be supported. Empty: any will
  /// do.
  wheel::VariantProperties needs;
  std::vector<std::string> sources;
};

struct Alternatives {
  std::string name;
  std::vector<std::string> modules;  ///< that each member installs
  bool same_versions = false;        ///< a requirement for one's version holds for the others
  std::string date;                  ///< when the facts were collected
  std::map<std::string, std::string, std::less<>> sources;
  std::vector<AlternativeMember> members;  ///< those that need more of a machine first

  /// The distributions, each once.
  [[nodiscard]] std::vector<std::string> projects() const;
};

/// `where` is named in errors. Errors: malformed (line and key), unsupported (a newer schema).
[[nodiscard]] Result<Alternatives> parse_alternatives(std::string_view toml, std::string where);

/// The bundled group that `project` (normalised) belongs to; nullptr: none.
[[nodiscard]] const Alternatives* alternatives_of(std::string_view project);

struct ShippedAlternatives {
  std::string_view name;  ///< of the file, without ".toml"
  std::string_view toml;
};

/// Sorted by name.
[[nodiscard]] std::span<const ShippedAlternatives> shipped_alternatives();

}  // namespace axle::index
