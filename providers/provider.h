#pragma once
// Providers: which properties does a machine support, best first (PEP 850). One file and one row a
// namespace, pure functions of facts. This library (axle::providers) links no JSON, no
// curl: it goes into wheels.

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
  /// What `machine` supports where `policy` says which of its GPUs count.
  Features (*supported)(const detect::Machine& machine, const GpuPolicy& policy);
  /// Every value that any machine may support: what a builder validates against.
  Features (*all)();
  /// What of the machine decides `feature :: value`: "the CPU lacks avx512_vnni", "driver 550.54
  /// runs CUDA up to 12.4, and the build needs 12.8". Never empty.
  Facts (*facts)(const detect::Machine& machine, const GpuPolicy& policy, std::string_view feature,
                 std::string_view value);
  /// Further published versions that give these very lists: a release that asks for one of them is
  /// answered too.
  std::span<const std::string_view> same_versions = {};
  /// Features whose values nobody can list beforehand (versions): any well-formed value may be
  /// supported, whatever `all` has of them.
  std::span<const std::string_view> open_features = {};
  /// The namespace says nothing of machines: every value is supported everywhere (PEP 850
  /// "all_properties_compatible").
  bool every_value_fits = false;
};

/// The providers that Axle carries, the row order being the order in which they are shown.
[[nodiscard]] std::span<const Provider> builtin_providers();
[[nodiscard]] const Provider* find_provider(std::string_view ns);

}  // namespace axle::providers
