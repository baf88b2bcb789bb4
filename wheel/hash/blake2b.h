#pragma once
// BLAKE2b with a digest of 256 bits (RFC 7693, without a key): what package indexes and uv mean by
// "blake2b". OpenSSL 3.0 has the digest of 512 bits alone.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace axle::wheel {

class Blake2b256 {
 public:
  Blake2b256();
  void update(std::span<const std::byte> bytes);
  /// 64 hex digits, lower case. Once: the object takes no more bytes afterwards.
  [[nodiscard]] std::string finish();

 private:
  void compress(bool last);

  static constexpr std::size_t block_size = 128;
  std::array<std::uint64_t, 8> state_;
  std::array<std::byte, block_size> block_{};
  std::size_t filled_ = 0;
  std::uint64_t counted_ = 0;  ///< bytes compressed; no file here has 2^64
};

}  // namespace axle::wheel
