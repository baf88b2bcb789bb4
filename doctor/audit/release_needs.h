#pragma once
// Which wheels a release of a package must consist of, by what its compiled code depends on.

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "doctor/audit/audited.h"

namespace axle::doctor {

enum class AbiReach : std::uint8_t {
  none,    ///< nothing depends on it
  stable,  ///< one wheel for all versions, from some oldest one
  each,    ///< one wheel for each version
};

struct ReleaseNeeds {
  AbiReach python = AbiReach::none;
  std::string oldest_python;      ///< "3.9", of the stable ABI; empty: unknown
  std::set<std::string> pythons;  ///< of this wheel: "cp311"
  AbiReach torch = AbiReach::none;
  std::string torch_library;  ///< that decided
  std::set<unsigned> cuda;    ///< majors
  std::set<unsigned> rocm;
  bool static_cuda = false;  ///< CUDA code and no library of CUDA
  std::set<std::string> architectures;

  /// "one wheel for each Python (this one: cp311), each torch release and each CUDA major (this
  /// one: 12)"
  [[nodiscard]] std::string render() const;
};

[[nodiscard]] ReleaseNeeds release_needs(const Audited& audited);

/// The N of the first Python 3.N whose stable ABI has that symbol; nullopt: none has.
[[nodiscard]] std::optional<unsigned> stable_since(std::string_view symbol);

/// What a module's file name says: "cp311", "cp313t", "abi3"; empty: nothing.
[[nodiscard]] std::string python_of_name(std::string_view file_name);

/// The oldest Python 3.N of the tags with the stable ABI; nullopt: no tag has it.
[[nodiscard]] std::optional<unsigned> stable_tag(const Audited& audited);

/// Whether it contains torch's own libraries.
[[nodiscard]] bool is_torch_itself(const Audited& audited);

}  // namespace axle::doctor
