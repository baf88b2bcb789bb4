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

/// Of longer ones OpenSSL's is faster, even if it has to be opened for them, which takes some 2 ms.
/// With instructions it does not become twice as fast.
inline constexpr std::size_t longest_short_text = std::size_t{16} << 10;
inline constexpr std::size_t longest_by_instructions = std::size_t{2} << 20;

/// Right for any length. `by_instructions`: only where there are some.
[[nodiscard]] Sha256Digest short_sha256(std::string_view text,
                                        bool by_instructions = has_sha_instructions());

}  // namespace axle::wheel
