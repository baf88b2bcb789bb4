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

/// All that a hash is after whole blocks of its text: another object, or another run of the
/// program, can go on from there.
struct Sha256Midpoint {
  std::uint64_t bytes = 0;  ///< taken so far, a multiple of `block`
  std::array<std::uint32_t, 8> words{};

  static constexpr std::uint64_t block = 64;
  friend bool operator==(const Sha256Midpoint&, const Sha256Midpoint&) = default;
};

class Sha256 {
 public:
  Sha256();
  explicit Sha256(const Sha256Midpoint& from);
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::span<const std::byte> bytes);
  /// Only after a multiple of Sha256Midpoint::block bytes.
  [[nodiscard]] Sha256Midpoint midpoint() const;
  /// Of the bytes so far; more may follow.
  [[nodiscard]] Sha256Digest so_far() const;
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
