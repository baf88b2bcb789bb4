#pragma once
// The hash that a file must have, from whoever lists it to whoever reads its bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wheel/hash/listed_hash.h"

namespace axle::wheel {

/// Who says what the hash of a file is.
enum class HashSource : std::uint8_t {
  index,           ///< the page that lists the file
  url,             ///< the user, behind its URL: "#sha256=…"
  first_download,  ///< nobody: it is that of the first download from the same URL
  attestation,     ///< its publisher, in an attestation that was verified
};

/// A sha256 where one is given, else the strongest of the others. Empty: none is given.
struct ExpectedHash {
  std::string algorithm;  ///< as hashlib names it
  std::string digits;     ///< hexadecimal, lower case; of a sha256 64, of others as they were given
  HashSource source = HashSource::index;
  /// Further ones beside a sha256, by which whoever lists only these knows the file.
  std::vector<ListedHash> beside = {};

  [[nodiscard]] bool empty() const { return digits.empty(); }
  /// The digits of a sha256, by which caches and the store name files; empty: there is none.
  [[nodiscard]] std::string_view sha256() const {
    return algorithm == "sha256" ? std::string_view(digits) : std::string_view();
  }
  /// It is there, and of an algorithm that can be computed here.
  [[nodiscard]] bool is_checkable() const;
  /// All of them as a user would list them, without what would prove nothing.
  [[nodiscard]] std::vector<ListedHash> as_listed() const;

  friend bool operator==(const ExpectedHash&, const ExpectedHash&) = default;
};

/// `digits`: 64, hexadecimal, lower case.
[[nodiscard]] ExpectedHash expected_sha256(std::string digits,
                                           HashSource source = HashSource::index);

}  // namespace axle::wheel
