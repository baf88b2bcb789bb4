#pragma once
// Sizes as people read them: the one place where bytes become "34.0 MB" or "300 MiB".

#include <cstdint>
#include <string>

namespace axle::text {

/// Of files and transfers, in powers of ten and three digits: "512 B", "1.23 kB", "34.0 MB",
/// "900 MB".
[[nodiscard]] std::string render_bytes(std::uint64_t bytes);

/// Of memory and of limits, in powers of two and whole: "300 MiB", "1 GiB"; from 4 GiB on always
/// GiB, rounded: "80 GiB".
[[nodiscard]] std::string render_memory(std::uint64_t bytes);

}  // namespace axle::text
