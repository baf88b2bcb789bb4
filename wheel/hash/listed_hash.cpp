#include "wheel/hash/listed_hash.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "foundation/text/ascii.h"

namespace axle::wheel {
namespace {

struct DigestLength {
  std::string_view name;
  std::size_t digits;
};

/// What pip takes for --hash, and uv besides. uv's blake2b is that of package indexes, of 256 bits.
constexpr std::array digest_lengths = {DigestLength{"sha256", 64}, DigestLength{"sha384", 96},
                                       DigestLength{"sha512", 128}, DigestLength{"blake2b", 64},
                                       DigestLength{"md5", 32}};

constexpr std::size_t shown_hashes = 4;

}  // namespace

Result<ListedHash> parse_listed_hash(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return fail(ErrorKind::malformed, fmt::format("`{}` is not a hash", text),
                "it is written --hash=sha256:<64 hexadecimal digits>");
  }
  // The algorithm as it is: pip and uv refuse "SHA256:", and a file must mean one thing to all.
  ListedHash hash{std::string(text.substr(0, colon)), text::ascii_lower(text.substr(colon + 1))};
  const auto algorithm = std::ranges::find(digest_lengths, hash.algorithm, &DigestLength::name);
  if (algorithm == digest_lengths.end()) {
    return fail(ErrorKind::malformed,
                fmt::format("`{}` is not a supported hash algorithm", hash.algorithm),
                "use sha256, sha384, sha512 or blake2b");
  }
  const bool hexadecimal = std::ranges::all_of(
      hash.digits, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!hexadecimal || hash.digits.size() != algorithm->digits) {
    return fail(ErrorKind::malformed,
                fmt::format("a {} hash has {} hexadecimal digits, unlike `{}`", hash.algorithm,
                            algorithm->digits, hash.digits));
  }
  return hash;
}

std::string render_listed_hash(const ListedHash& hash) {
  return fmt::format("{}:{}", hash.algorithm, hash.digits);
}

std::string render_listed_hashes(std::span<const ListedHash> hashes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(hashes.size(), shown_hashes); ++i)
    text += (i == 0 ? "" : ", ") + render_listed_hash(hashes[i]);
  if (hashes.size() > shown_hashes)
    text += fmt::format(" or {} others", hashes.size() - shown_hashes);
  return text;
}

bool is_weak(const ListedHash& hash) { return hash.algorithm == "md5"; }

bool may_be_listed(std::span<const ListedHash> known, std::span<const ListedHash> listed) {
  if (listed.empty()) return true;
  return std::ranges::any_of(listed, [&](const ListedHash& one) {
    const auto same = std::ranges::find(known, one.algorithm, &ListedHash::algorithm);
    return same == known.end() || same->digits == one.digits;
  });
}

}  // namespace axle::wheel
