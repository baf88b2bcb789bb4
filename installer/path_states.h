#pragma once
// What a look at paths found, to be compared with a later look: as long as it is the same, what
// was read there need not be read again.

#include <cstdint>
#include <string>

namespace axle::installer {

/// What changed this recently may change again without another time, for a file system's clock is
/// coarse: nobody relies on its state. In nanoseconds.
inline constexpr std::int64_t settled_after = 2'000'000'000;

struct PathStates {
  std::string text;         ///< of all of them: another text, and something was changed
  std::int64_t latest = 0;  ///< the last change of any of them, nanoseconds since 1970

  /// Adds size, times and place of what lies at `path`, links followed, or that nothing does.
  /// False: it cannot be looked at, or is a pipe, a terminal or the like, which has something else
  /// each time.
  [[nodiscard]] bool add(const std::string& path) { return add(path, true); }
  /// The same of a file that may be one of the store: a link to it from another environment changes
  /// the time of its state, which does not count then.
  [[nodiscard]] bool add_linked(const std::string& path) { return add(path, false); }

  /// Whether nothing was changed shortly before `began`, nanoseconds since 1970, or after it.
  [[nodiscard]] bool settled_at(std::int64_t began) const {
    return latest <= began - settled_after;
  }

 private:
  bool add(const std::string& path, bool state_counts);
};

/// By the clock that file systems use: nanoseconds since 1970.
[[nodiscard]] std::int64_t nanoseconds_now();

}  // namespace axle::installer
