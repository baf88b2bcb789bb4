#include "wheel/hash/expected_hash.h"

#include <utility>

#include "wheel/hash/named_hash.h"

namespace axle::wheel {

bool ExpectedHash::is_checkable() const {
  return !empty() && (algorithm == "sha256" || hash_strength(algorithm));
}

std::vector<ListedHash> ExpectedHash::as_listed() const {
  if (empty()) return {};
  auto listed = parse_listed_hash(algorithm + ":" + digits);
  if (!listed || is_weak(*listed)) return {};
  return {std::move(*listed)};
}

ExpectedHash expected_sha256(std::string digits, HashSource source) {
  return {"sha256", std::move(digits), source};
}

}  // namespace axle::wheel
