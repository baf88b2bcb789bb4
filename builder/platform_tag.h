#pragma once
// Which tags a wheel with these files gets (PEP 425, PEP 600), or why it cannot get one.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/wheel_writer.h"

namespace axle::builder {

struct TagChoice {
  std::string python;    ///< "py3", "cp311"
  std::string abi;       ///< "none", "cp311", "abi3"
  std::string platform;  ///< "any", "manylinux_2_17_x86_64"
  bool pure = true;      ///< Root-Is-Purelib
};

struct TagRules {
  std::string python_tag;                      ///< for wheels without extension modules
  std::vector<std::string> allowed_libraries;  ///< in addition to those of manylinux
  /// The project's Requires-Python: the names of modules with the stable ABI ("x.abi3.so") do not
  /// contain their minimum Python, so its oldest one is used.
  std::string requires_python = {};
  /// Python and ABI of extension modules are known already; only the platform counts.
  bool platform_only = false;
};

/// Reads every ELF file among `members`: the newest symbol versions determine the glibc, and every
/// library that they need must be in the wheel, on manylinux's list, or allowed. Errors: mismatch
/// (an extension module whose name says another architecture: it is never imported), unsupported (a
/// library outside, two architectures, a symbol version without a known glibc, an extension module
/// without its Python in the name, one with the stable ABI without a stated oldest Python),
/// malformed.
[[nodiscard]] Result<TagChoice> choose_tags(const std::vector<wheel::WheelMember>& members,
                                            const TagRules& rules);

/// "x86_64", "aarch64"; empty: of another one, or no ELF file.
[[nodiscard]] std::string architecture_of_library(std::string_view content);

}  // namespace axle::builder
