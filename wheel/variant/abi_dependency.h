#pragma once
// What a variant was built against: namespaces whose provider is the builtin `abi_dependency`
// (PEP 850), and the reserved namespace of that name in older documents, which declare it with a
// dummy requirement or not at all. A feature is a package, a value the first components of its
// version.

#include <string>
#include <string_view>
#include <vector>

#include "wheel/specifier.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::wheel {

/// The builtin's name, and the reserved namespace.
inline constexpr std::string_view abi_dependency = "abi_dependency";

[[nodiscard]] bool is_abi_namespace(const VariantMetadata& document, std::string_view ns);

/// Why a property of such a namespace is not as PEP 850 has it; empty: it is. A feature is a name
/// as in `.dist-info` ("my_runtime"), a value one to three release components ("2.9") as `==2.9.*`.
[[nodiscard]] std::string abi_property_defect(const Property& property);

/// The versions that the value of a property without a defect stands for.
[[nodiscard]] SpecifierSet abi_versions(std::string_view value);

/// What a variant, or an installed package, needs of another package.
struct AbiNeed {
  std::string package;               ///< normalised
  std::vector<SpecifierSet> any_of;  ///< one of them must hold
  std::string text;                  ///< for people: "torch 2.9 or 2.10"
};
/// Of a variant of `document` with these properties. Properties with a defect need nothing: no
/// machine supports them.
[[nodiscard]] std::vector<AbiNeed> abi_needs(const VariantMetadata& document,
                                             const VariantProperties& properties);

}  // namespace axle::wheel
