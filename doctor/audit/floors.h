#pragma once
// The oldest system that a package's libraries run on, by the versions of the symbols that they
// need.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/audit/audited.h"

namespace axle::doctor {

/// The newest version that is needed of one family, and who needs it.
struct NewestVersion {
  std::string version;  ///< "GLIBC_2.28"
  std::string library;  ///< of the system
  std::string file;     ///< of the package
};

struct SystemFloor {
  std::map<std::string, NewestVersion> newest;  ///< by family: "GLIBC", "GLIBCXX", …
  unsigned glibc_minor = 0;                     ///< of the oldest manylinux_2_N that has all
  NewestVersion reason;  ///< what determines `glibc_minor`; of a library without version its name
  std::vector<NewestVersion> unknown;  ///< that no tag promises
  bool glibc = false;                  ///< some library needs it
  bool musl = false;
};

/// "glibc" or "musl", for the name of a C library; else empty.
[[nodiscard]] std::string_view libc_of_library(std::string_view name);

[[nodiscard]] SystemFloor system_floor(const Audited& audited);

/// "manylinux_2_28_x86_64": the oldest tag for it; empty if there is none.
[[nodiscard]] std::string oldest_platform(const SystemFloor& floor,
                                          const std::string& architecture);

/// The architecture of most of its libraries; empty: it has none.
[[nodiscard]] std::string main_architecture(const Audited& audited);

}  // namespace axle::doctor
