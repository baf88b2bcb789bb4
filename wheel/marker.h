#pragma once
// PEP 508 environment markers with the four variant markers of PEP 825 (variant_label,
// variant_properties, variant_features, variant_namespaces).

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::wheel {

/// What markers are evaluated against. `strings` holds python_version, python_full_version,
/// os_name, sys_platform, platform_machine, platform_python_implementation, platform_release,
/// platform_system, platform_version, implementation_name, implementation_version, extra,
/// variant_label. `sets` holds variant_properties ("ns :: feature :: value"), variant_features ("ns
/// :: feature"), variant_namespaces, and extras, dependency_groups (PEP 751).
struct MarkerEnvironment {
  std::map<std::string, std::string, std::less<>> strings;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> sets;
};

/// An immutable marker expression; cheap to copy.
class Marker {
 public:
  /// A variable that the environment lacks counts as "" (a version as "0", a set as empty). A
  /// comparison without a meaning (`os_name ~= "x"`, a set with "==") is false.
  [[nodiscard]] bool evaluate(const MarkerEnvironment& environment) const;
  /// The same with `extra` as the value of that variable, whatever `environment` has.
  [[nodiscard]] bool evaluate(const MarkerEnvironment& environment, std::string_view extra) const;
  /// Whether any clause mentions the variable `name`.
  [[nodiscard]] bool mentions(std::string_view name) const;
  /// As `packaging` spells it: double quotes, single spaces, parentheses of one clause dropped;
  /// names of extras and variant properties normalised.
  [[nodiscard]] std::string render() const;

  struct Node;  // marker_node.h
  /// nullptr for a marker that was never parsed.
  [[nodiscard]] const Node* root() const { return root_.get(); }

 private:
  friend class MarkerParser;
  std::shared_ptr<const Node> root_;
};

/// Every clause compares one variable with one quoted string; a variable that no specification
/// names is malformed (a release with one is not eligible). Error: malformed, with the position.
/// Nesting deeper than 100 is malformed.
[[nodiscard]] Result<Marker> parse_marker(std::string_view text);

}  // namespace axle::wheel
