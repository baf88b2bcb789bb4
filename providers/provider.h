#pragma once
// Providers: which properties a machine supports, best first (PEP 850). One file and one row per
// namespace, pure functions of facts. This library (axle::providers) does not link JSON or curl: it
// is included in wheels.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/fact.h"
#include "providers/gpu_policy.h"

namespace axle::providers {

/// One feature and its supported values, most preferred first (PEP 850 "VariantFeatureConfig").
struct Feature {
  std::string name;
  bool multi_value = false;
  std::vector<std::string> values;
  friend bool operator==(const Feature&, const Feature&) = default;
};

/// The supported features of one namespace, most preferred first.
using Features = std::vector<Feature>;

struct Provider {
  std::string_view ns;       ///< namespace
  std::string_view package;  ///< requirement name as uv matches it: "nvidia-variant-provider"
  std::string_view version;  ///< the version we stand for
  std::span<const std::string_view> plugin_apis;  ///< accepted `plugin-api` strings; "" = absent
  std::span<const std::string_view> aliases;      ///< older package names, read only
  /// What `machine` supports if `policy` selects its GPUs.
  Features (*supported)(const detect::Machine& machine, const GpuPolicy& policy);
  /// Every value that any machine may support: builders validate against it.
  Features (*all)();
  /// The facts of the machine that decide `feature :: value`: "the CPU lacks avx512_vnni", "driver
  /// 550.54 runs CUDA up to 12.4, and the build needs 12.8". Never empty.
  Facts (*facts)(const detect::Machine& machine, const GpuPolicy& policy, std::string_view feature,
                 std::string_view value);
  /// Other published versions with the same lists: a release that requires one of them is served
  /// too.
  std::span<const std::string_view> same_versions = {};
  /// Features whose values cannot be listed in advance (versions): any well-formed value may be
  /// supported, whether `all` has it or not.
  std::span<const std::string_view> open_features = {};
  /// The namespace does not depend on the machine: every value is supported everywhere (PEP 850
  /// "all_properties_compatible").
  bool every_value_fits = false;
};

/// The bundled providers, in the order in which they are shown.
[[nodiscard]] std::span<const Provider> builtin_providers();
/// Their names, in that order.
[[nodiscard]] std::vector<std::string> builtin_namespaces();
[[nodiscard]] const Provider* find_provider(std::string_view ns);

}  // namespace axle::providers
