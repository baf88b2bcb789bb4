#pragma once
// Hashes other than SHA-256 by their names in Python's hashlib, as index pages and URL fragments
// give them (OpenSSL).

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace axle::wheel {

/// How much the hash `algorithm` ("sha512", "md5", …) is worth: more is stronger. nullopt: it is
/// none that can be computed here.
[[nodiscard]] std::optional<std::size_t> hash_strength(std::string_view algorithm);

class NamedHash {
 public:
  /// `algorithm` has a strength.
  explicit NamedHash(std::string_view algorithm);
  ~NamedHash();
  NamedHash(NamedHash&&) noexcept;
  NamedHash& operator=(NamedHash&&) noexcept;
  void update(std::span<const std::byte> bytes);
  /// Hex digits, lower case; empty when the library refuses the algorithm. Once: the object takes
  /// no more bytes afterwards.
  [[nodiscard]] std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace axle::wheel
