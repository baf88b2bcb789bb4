#include "wheel/hash/sha256.h"

#include <new>
#include <string_view>
#include <utility>

#include "wheel/hash/openssl_digests.h"
#include "wheel/hash/short_sha256.h"

namespace axle::wheel {

struct Sha256::State {
  State() : context(digests.context_new()) {
    // OpenSSL's default provider always has SHA-256: these fail for want of memory only.
    if (context == nullptr || digests.init(context, method(), nullptr) != 1) {
      release();
      throw std::bad_alloc();
    }
  }
  ~State() { release(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void release() { digests.context_free(context); }

  /// Looking it up by name takes longer than hashing a line of text.
  static const EVP_MD* method() {
    static const EVP_MD* const found = openssl_digests().fetch(nullptr, "SHA256", nullptr);
    return found;
  }

  const OpensslDigests& digests = openssl_digests();
  EVP_MD_CTX* context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  if (state_->digests.update(state_->context, bytes.data(), bytes.size()) != 1)
    throw std::bad_alloc();
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  unsigned length = 0;
  if (state_->digests.final(state_->context, digest.data(), &length) != 1) throw std::bad_alloc();
  return digest;
}

Sha256Digest sha256(std::string_view bytes) {
  if (bytes.size() <= longest_short_text) return short_sha256(bytes);
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
