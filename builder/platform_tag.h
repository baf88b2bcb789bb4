#pragma once
// Which tags a wheel with these files deserves (PEP 425, PEP 600), and why it would deserve none.

#include <string>
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
  std::string python_tag;                      ///< of wheels without extension modules
  std::vector<std::string> allowed_libraries;  ///< on top of those that manylinux counts on
  /// The project's Requires-Python: modules of the stable ABI ("x.abi3.so") do not say from which
  /// Python on they work, so that its oldest is meant.
  std::string requires_python = {};
};

/// Reads every ELF file among `members`: the newest symbol versions decide the glibc, and every
/// library that they need must be one of the wheel's own, one that manylinux counts on, or allowed.
/// Errors: unsupported (a library outside, two architectures, a symbol version that no glibc is
/// known for, an extension module that does not say its Python, one of the stable ABI without a
/// stated oldest Python), malformed.
[[nodiscard]] Result<TagChoice> choose_tags(const std::vector<wheel::WheelMember>& members,
                                            const TagRules& rules);

}  // namespace axle::builder
