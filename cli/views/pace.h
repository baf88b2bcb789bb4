#pragma once
// How fast work goes, and when it ends: what a progress line says beside the bytes.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace axle::cli {

class Pace {
 public:
  /// `what` is at `done` of `total` bytes (0: unknown) at the time `now`, in milliseconds. Returns
  /// ", 45.2 MB/s, 19 s left", without the second part if the total is unknown; empty until half a
  /// second of it was seen. Each piece of work has its own pace, named by the last word of `what`;
  /// one that goes back begins again.
  [[nodiscard]] std::string note(std::string_view what, std::uint64_t done, std::uint64_t total,
                                 std::uint64_t now);

 private:
  struct Seen {
    std::uint64_t first_done;
    std::uint64_t first_time;
    std::uint64_t last_done;
  };
  std::map<std::string, Seen, std::less<>> seen_;
};

/// "8 s", "3 min 5 s", "1 h 20 min".
[[nodiscard]] std::string render_duration(std::uint64_t seconds);

}  // namespace axle::cli
