#pragma once
// The file format of drivers' cached answers: the fingerprint that they are valid for, then each
// answer with its time. The file is not trusted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"

namespace axle::detect {

struct KeptAnswer {
  std::string subject;    ///< "nvidia", or a program's command
  std::int64_t time = 0;  ///< seconds since 1970
  std::string text;       ///< whole lines
  friend bool operator==(const KeptAnswer&, const KeptAnswer&) = default;
};

[[nodiscard]] std::string render_kept_answers(std::string_view fingerprint,
                                              const std::vector<KeptAnswer>& answers);

/// The answers for exactly that fingerprint; nullopt for another one and for anything that
/// render_kept_answers does not write, including truncated files.
[[nodiscard]] std::optional<std::vector<KeptAnswer>> parse_kept_answers(
    std::string_view text, std::string_view fingerprint);

inline constexpr std::int64_t a_day = 24 * 60 * 60;
inline constexpr std::int64_t ten_minutes = 10 * 60;

/// How long the lines of a child that finished are valid, in seconds. A day if every device is
/// described; ten minutes if something is missing that the user may be about to install; not at all
/// after an error of the driver, whose fix may not change the fingerprint.
[[nodiscard]] std::int64_t lifetime_of(GpuVendor vendor, std::string_view lines);

}  // namespace axle::detect
