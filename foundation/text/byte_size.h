#pragma once
// Sizes as text: the only place where bytes become "34.0 MB" or "300 MiB", and the other way.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace axle::text {

/// For files and transfers, in powers of ten and three digits: "512 B", "1.23 kB", "34.0 MB", "900
/// MB".
[[nodiscard]] std::string render_bytes(std::uint64_t bytes);

/// For memory and limits, in powers of two without decimals: "300 MiB", "1 GiB"; from 4 GiB always
/// GiB, rounded: "80 GiB".
[[nodiscard]] std::string render_memory(std::uint64_t bytes);

/// "3GB", "1.5 GiB", "800 MB", "512": a unit of either kind, whatever its case. nullopt: it is
/// none, or more than 10^15 bytes.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace axle::text
