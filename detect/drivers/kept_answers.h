#pragma once
// The text in which answers of drivers are kept between runs: the fingerprint that they hold under,
// then each answer with its time. Whoever wrote the file, what it says is hostile.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"

namespace axle::detect {

struct KeptAnswer {
  std::string subject;    ///< "nvidia", or a program's command
  std::int64_t time = 0;  ///< when it was given, seconds since 1970
  std::string text;       ///< whole lines
  friend bool operator==(const KeptAnswer&, const KeptAnswer&) = default;
};

[[nodiscard]] std::string render_kept_answers(std::string_view fingerprint,
                                              const std::vector<KeptAnswer>& answers);

/// The answers under exactly that fingerprint; nullopt for another one and for everything that
/// render_kept_answers does not write, cut files among it.
[[nodiscard]] std::optional<std::vector<KeptAnswer>> parse_kept_answers(
    std::string_view text, std::string_view fingerprint);

inline constexpr std::int64_t a_day = 24 * 60 * 60;
inline constexpr std::int64_t ten_minutes = 10 * 60;

/// How long the lines of a child that finished may be believed, in seconds. A day when every device
/// is described; ten minutes when something is missing that a person may be about to install; not
/// at all after an error of the driver, whose hint may leave no trace in the fingerprint.
[[nodiscard]] std::int64_t lifetime_of(GpuVendor vendor, std::string_view lines);

}  // namespace axle::detect
