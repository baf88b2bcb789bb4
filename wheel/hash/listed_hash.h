#pragma once
// Hashes that a user lists for a file: `--hash=sha256:…` in a requirements file, `#sha256=…` behind
// a URL.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::wheel {

struct ListedHash {
  std::string algorithm;  ///< "sha256", "sha384", "sha512", "blake2b" (of 256 bits), "md5"
  std::string digits;     ///< hexadecimal, lower case
  friend auto operator<=>(const ListedHash&, const ListedHash&) = default;
};

/// "sha256:<digits>". Error: malformed (another algorithm than pip or uv take, another length).
[[nodiscard]] Result<ListedHash> parse_listed_hash(std::string_view text);
[[nodiscard]] std::string render_listed_hash(const ListedHash& hash);
/// "sha256:…, sha256:… or 12 others"
[[nodiscard]] std::string render_listed_hashes(std::span<const ListedHash> hashes);

/// MD5 proves nothing: it counts only beside others, and then not at all.
[[nodiscard]] bool is_weak(const ListedHash& hash);

/// Whether a file of which these hashes are known may be one that is listed: a listed one is among
/// them, or one of an algorithm that says nothing yet. Nothing listed: any file may.
[[nodiscard]] bool may_be_listed(std::span<const ListedHash> known,
                                 std::span<const ListedHash> listed);

}  // namespace axle::wheel
