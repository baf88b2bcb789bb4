#pragma once
// PEP 700: when a file was uploaded.

#include <cstdint>
#include <optional>
#include <string_view>

namespace axle::index {

/// RFC 3339, "2024-06-01T12:00:00.123456Z" or with an offset: microseconds since 1970, UTC.
/// nullopt: it is not valid.
[[nodiscard]] std::optional<std::int64_t> parse_upload_time(std::string_view text);

}  // namespace axle::index
