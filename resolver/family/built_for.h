#pragma once
// What the local version of a wheel says that it was built for: flash-attn's
// "cu12torch2.9cxx11abitrue", PyG's "pt29cu128", natten's "torch260cu126", "torch2.10.0cu128",
// vllm's "cu129".

#include <optional>
#include <string>
#include <string_view>

#include "index/family/family.h"
#include "wheel/specifier.h"
#include "wheel/version.h"

namespace axle::resolver {

/// What such local versions speak of.
inline constexpr std::string_view torch_package = "torch";

struct BuiltFor {
  std::string torch;  ///< "2.9"; empty: not said
  /// A namespace as of families; "cpu" for builds without a GPU; empty: not said.
  std::string vendor;
  std::string toolkit;            ///< nvidia: CUDA's major version "12"; amd: "7.1"; may be empty
  std::optional<bool> cxx11_abi;  ///< of libstdc++, the newer one
  std::string local;              ///< the local version itself

  [[nodiscard]] bool says_torch() const { return !torch.empty(); }
  /// `==2.9.*`; any version where none is said.
  [[nodiscard]] wheel::SpecifierSet versions() const;
  /// "torch 2.9 for CUDA 12 with the new C++ ABI"
  [[nodiscard]] std::string render() const;
};

/// The label is one of the backend that it was built for; where none is said, of any.
[[nodiscard]] bool is_backend_of(const BuiltFor& built, const index::FamilyLabel& label);

/// nullopt: nothing. "cpu" and "xpu" count only beside a version of torch.
[[nodiscard]] std::optional<BuiltFor> parse_built_for(const wheel::Version& version);

}  // namespace axle::resolver
