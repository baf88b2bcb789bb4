#pragma once
// --no-binary and --only-binary: of which packages wheels may be used.

#include <map>
#include <string>
#include <string_view>

namespace axle::resolver {

/// What names a package wins over ":all:"; of two that name it, the one that forbids.
struct WheelUse {
  std::map<std::string, std::string, std::less<>> forbidden;  ///< name or ":all:" -> who says so
  std::map<std::string, std::string, std::less<>> only;       ///< the same of --only-binary

  /// Who forbids wheels of `name`; nullptr: nobody.
  [[nodiscard]] const std::string* forbids(std::string_view name) const;
  /// Who allows nothing but wheels of `name`; nullptr: nobody.
  [[nodiscard]] const std::string* demands(std::string_view name) const;
};

}  // namespace axle::resolver
