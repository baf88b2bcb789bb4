#pragma once
// The list of what is in a bundle: SHA256SUMS, which `sha256sum --check` reads too. Each file has a
// comment with its size and a line with its hash, in the order of their paths:
//
//     # axle-bundle 1
//     # 1534 bytes
//     2c26b46b…7ae  simple/demo/demo-1.0-py3-none-any.whl

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::wheel {

/// What the list is called in a bundle, and its signature.
inline constexpr std::string_view bundle_list_name = "SHA256SUMS";
inline constexpr std::string_view bundle_signature_name = "SHA256SUMS.sig";

/// The first line of a list, without its end.
inline constexpr std::string_view bundle_list_title = "# axle-bundle 1";

/// A longer list is refused.
inline constexpr std::uint64_t max_bundle_list_bytes = 32ULL << 20;

struct BundleMember {
  std::string path;    ///< as of a member of a wheel (wheel/zip/member_name.h), of a file
  std::string sha256;  ///< 64 hex digits
  std::uint64_t size = 0;

  friend bool operator==(const BundleMember&, const BundleMember&) = default;
};

/// `members` are sorted by their paths. What it gives is read back by parse_bundle_list.
[[nodiscard]] std::string render_bundle_list(const std::vector<BundleMember>& members);

/// Sorted by their paths, each once. Only the one spelling that render_bundle_list has is read.
/// Error: malformed, with the line: also for a path that leaves the bundle, or is the list's own.
[[nodiscard]] Result<std::vector<BundleMember>> parse_bundle_list(std::string_view text,
                                                                  const std::string& where);

}  // namespace axle::wheel
