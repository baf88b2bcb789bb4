#pragma once
// Points in time as RFC 3339 writes them: when a file was uploaded (PEP 700), how long a key is
// valid, when an advisory was withdrawn.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace axle::text {

/// "2024-06-01T12:00:00.123456Z" or with an offset: microseconds since 1970, UTC. nullopt: it is
/// not valid.
[[nodiscard]] std::optional<std::int64_t> parse_rfc3339(std::string_view text);

/// The same back, in UTC and with all six digits: "2024-06-01T12:00:00.123456Z".
[[nodiscard]] std::string render_rfc3339(std::int64_t microseconds);

}  // namespace axle::text
