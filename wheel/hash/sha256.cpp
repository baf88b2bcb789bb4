#include "wheel/hash/sha256.h"

#include <algorithm>
#include <string_view>

#include "wheel/hash/openssl_digests.h"
#include "wheel/hash/short_sha256.h"

namespace axle::wheel {

// A context that the caller provides has no way to fail: the results of these calls say nothing.
struct Sha256::State {
  const OpensslDigests& digests = openssl_digests();
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  state_->digests.sha256_init(&state_->context);
}

Sha256::Sha256(const Sha256Midpoint& from) : Sha256() {
  SHA256_CTX& context = state_->context;
  std::ranges::copy(from.words, context.h);
  context.Nl = static_cast<SHA_LONG>(from.bytes << 3);
  context.Nh = static_cast<SHA_LONG>(from.bytes >> 29);
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  state_->digests.sha256_update(&state_->context, bytes.data(), bytes.size());
}

Sha256Midpoint Sha256::midpoint() const {
  const SHA256_CTX& context = state_->context;
  Sha256Midpoint point;
  point.bytes = (std::uint64_t{context.Nh} << 29) | (context.Nl >> 3);
  std::ranges::copy(context.h, point.words.begin());
  return point;
}

Sha256Digest Sha256::so_far() const {
  SHA256_CTX copy = state_->context;
  Sha256Digest digest{};
  state_->digests.sha256_final(digest.data(), &copy);
  return digest;
}

Sha256Digest Sha256::finish() { return so_far(); }

Sha256Digest sha256(std::string_view bytes) {
  if (take_as_short(bytes.size())) return short_sha256(bytes);
  Sha256 hash;
  hash.update(std::as_bytes(std::span(bytes)));
  return hash.finish();
}

std::string render_hex(const Sha256Digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(2 * digest.size(), '0');
  for (std::size_t i = 0; i < digest.size(); ++i) {
    text[2 * i] = digits[digest[i] >> 4];
    text[2 * i + 1] = digits[digest[i] & 15];
  }
  return text;
}

std::string render_base64(const Sha256Digest& digest) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  text.reserve(43);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const std::uint8_t byte : digest) {
    bits = (bits << 8) | byte;
    count += 8;
    while (count >= 6) {
      count -= 6;
      text += digits[(bits >> count) & 63];
    }
  }
  text += digits[(bits << (6 - count)) & 63];  // 256 bits leave four over
  return text;
}

}  // namespace axle::wheel
