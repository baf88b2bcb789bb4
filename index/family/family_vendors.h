#pragma once
// The vendors of GPUs that builds of a family may be for, one row each: how a file names the GPUs
// that a build has code for, and the properties that stand for them. index/ does not know detect/;
// tests/resolver/families_test.cpp compares the rows with detect/gpu_vendors.h.

#include <span>
#include <string_view>

#include "index/family/family.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::index {

/// The namespace of what those of the vendors cannot say.
inline constexpr std::string_view own_ns = "axle";

struct FamilyVendor {
  std::string_view word;  ///< in files; also the namespace of its properties
  /// Whether `name` may be in `code`.
  bool (*is_code)(const Family& family, std::string_view name);
  std::string_view hint;  ///< for a name that may not; may be empty
  /// What its builds have beside code of devices, which the driver may compile for others:
  /// "SPIR-V". Nobody has verified whether it runs there; empty: nothing of the kind.
  std::string_view compiled_later;
  /// Adds what a machine needs for the driver of `label` and the code of `build`. `build` may be
  /// nullptr, its code nullopt: not known.
  void (*add_needs)(const Family& family, const FamilyLabel& label, const FamilyBuild* build,
                    wheel::VariantProperties& properties);
};

/// The preferred one first.
[[nodiscard]] std::span<const FamilyVendor> family_vendors();
/// nullptr: not a vendor of that word.
[[nodiscard]] const FamilyVendor* find_family_vendor(std::string_view word);

/// "12.8": how files write compute capabilities and versions of CUDA.
[[nodiscard]] bool is_version_pair(std::string_view text);

}  // namespace axle::index
