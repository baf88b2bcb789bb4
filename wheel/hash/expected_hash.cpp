#include "wheel/hash/expected_hash.h"

#include <utility>

#include "wheel/hash/named_hash.h"

namespace axle::wheel {

bool ExpectedHash::is_checkable() const {
  return !empty() && (algorithm == "sha256" || hash_strength(algorithm));
}

std::vector<ListedHash> ExpectedHash::as_listed() const {
  std::vector<ListedHash> proofs;
  const auto add = [&proofs](const std::string& name, const std::string& hexadecimal) {
    auto listed = parse_listed_hash(name + ":" + hexadecimal);
    if (listed && !is_weak(*listed)) proofs.push_back(std::move(*listed));
  };
  add(algorithm, digits);
  for (const ListedHash& other : beside) add(other.algorithm, other.digits);
  return proofs;
}

ExpectedHash expected_sha256(std::string digits, HashSource source) {
  return {"sha256", std::move(digits), source, {}};
}

}  // namespace axle::wheel
