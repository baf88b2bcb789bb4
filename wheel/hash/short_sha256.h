#pragma once
// SHA-256 of short texts (FIPS 180-4) without OpenSSL: opening libcrypto takes 1.7 ms, more than
// all the names of cache entries that a command hashes.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wheel/hash/sha256.h"

namespace axle::wheel {

/// The CPU has instructions for SHA-256, and this program knows how to use them (x86-64).
[[nodiscard]] bool has_sha_instructions();

/// OpenSSL hashes up to twice as fast. A process that hashes more than this, with instructions or
/// without, has opened it sooner than it would have hashed it all here.
inline constexpr std::size_t most_by_instructions = std::size_t{2} << 20;
inline constexpr std::size_t most_without = std::size_t{512} << 10;

/// Whether a text of `bytes` bytes is one of those that a process hashes before OpenSSL is worth
/// opening. Counts it.
[[nodiscard]] bool take_as_short(std::size_t bytes);

/// Right for any length. `by_instructions`: only where there are some.
[[nodiscard]] Sha256Digest short_sha256(std::string_view text,
                                        bool by_instructions = has_sha_instructions());

}  // namespace axle::wheel
