#include "wheel/hash/named_hash.h"

#include <array>
#include <new>

#include "wheel/hash/openssl_digests.h"

namespace axle::wheel {
namespace {

struct Algorithm {
  std::string_view name;  ///< hashlib's
  const char* openssl;
};

/// Weakest first.
constexpr std::array algorithms = {
    Algorithm{"md5", "MD5"},
    Algorithm{"sha1", "SHA1"},
    Algorithm{"sha224", "SHA224"},
    Algorithm{"sha3_224", "SHA3-224"},
    Algorithm{"blake2s", "BLAKE2S256"},
    Algorithm{"sha3_256", "SHA3-256"},
    Algorithm{"sha384", "SHA384"},
    Algorithm{"sha3_384", "SHA3-384"},
    Algorithm{"blake2b", "BLAKE2B512"},
    Algorithm{"sha3_512", "SHA3-512"},
    Algorithm{"sha512", "SHA512"},
};

}  // namespace

std::optional<std::size_t> hash_strength(std::string_view algorithm) {
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    if (algorithms[i].name == algorithm) return i;
  }
  return std::nullopt;
}

struct NamedHash::State {
  explicit State(const char* name)
      : method(digests.fetch(nullptr, name, nullptr)), context(digests.context_new()) {
    // A provider in FIPS mode has no MD5: then nothing can be said of the file.
    ready = method != nullptr && context != nullptr && digests.init(context, method, nullptr) == 1;
  }
  ~State() {
    digests.context_free(context);
    digests.free(method);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const OpensslDigests& digests = openssl_digests();
  EVP_MD* method;
  EVP_MD_CTX* context;
  bool ready = false;
};

NamedHash::NamedHash(std::string_view algorithm)
    : state_(std::make_unique<State>(algorithms.at(hash_strength(algorithm).value()).openssl)) {}
NamedHash::~NamedHash() = default;
NamedHash::NamedHash(NamedHash&&) noexcept = default;
NamedHash& NamedHash::operator=(NamedHash&&) noexcept = default;

void NamedHash::update(std::span<const std::byte> bytes) {
  if (state_->ready)
    state_->ready = state_->digests.update(state_->context, bytes.data(), bytes.size()) == 1;
}

std::string NamedHash::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (!state_->ready || state_->digests.final(state_->context, digest.data(), &length) != 1)
    return {};
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

}  // namespace axle::wheel
