#pragma once
// SHA-256 (OpenSSL) in the two spellings the formats use.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace axle::wheel {

using Sha256Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::span<const std::byte> bytes);
  /// Once: the object takes no more bytes afterwards.
  [[nodiscard]] Sha256Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] Sha256Digest sha256(std::string_view bytes);
[[nodiscard]] std::string render_hex(const Sha256Digest& digest);  ///< index pages: 64 hex digits
[[nodiscard]] std::string render_base64(
    const Sha256Digest& digest);  ///< RECORD: urlsafe, no padding

}  // namespace axle::wheel
