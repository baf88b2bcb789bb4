#pragma once
// Formats sizes: the only place where bytes become "34.0 MB" or "300 MiB".

#include <cstdint>
#include <string>

namespace axle::text {

/// For files and transfers, in powers of ten and three digits: "512 B", "1.23 kB", "34.0 MB", "900
/// MB".
[[nodiscard]] std::string render_bytes(std::uint64_t bytes);

/// For memory and limits, in powers of two without decimals: "300 MiB", "1 GiB"; from 4 GiB always
/// GiB, rounded: "80 GiB".
[[nodiscard]] std::string render_memory(std::uint64_t bytes);

}  // namespace axle::text
