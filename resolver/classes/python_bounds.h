#pragma once
// For which patch releases of Python an answer holds. Within a minor release tags are the same;
// what tells patch releases apart are Requires-Python and markers.

#include <cstdint>
#include <set>
#include <string>

#include "wheel/marker.h"
#include "wheel/specifier.h"
#include "wheel/version.h"

namespace axle::resolver {

/// The patch numbers from which on a condition may hold or fail: of "3.11.4" in ">=3.11.4" 4, in
/// "<=3.11.4" 5. Other minor releases have none.
class PythonBounds {
 public:
  /// Requires-Python.
  void note(const wheel::SpecifierSet& requires_python, const wheel::Version& python);
  /// Comparisons with python_full_version and implementation_version.
  void note(const wheel::Marker& marker, const wheel::Version& python);

  /// Around `python` the releases without a bound between them: ">=3.11.3,<3.11.5"; empty: all of
  /// its minor release.
  [[nodiscard]] std::string releases_around(const wheel::Version& python) const;

 private:
  void note(const wheel::Specifier& specifier, const wheel::Version& python);

  std::set<std::uint64_t> patches_;
};

}  // namespace axle::resolver
