#pragma once
// A public key and what it signs with.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace axle::wheel {

enum class SignatureScheme : std::uint8_t {
  ecdsa_sha256,
  ecdsa_sha384,
  ecdsa_sha512,
  rsa_sha256,  ///< PKCS #1 v1.5, as the next
  rsa_sha512,
  ed25519,
};

class PublicKey {
 public:
  /// `bytes`: a SubjectPublicKeyInfo in DER. nullopt: it is none, or not one for `scheme`.
  [[nodiscard]] static std::optional<PublicKey> parse(std::string_view bytes,
                                                      SignatureScheme scheme);
  /// As above, of a key that OpenSSL has, which stays its owner's too.
  [[nodiscard]] static std::optional<PublicKey> of(evp_pkey_st* key, SignatureScheme scheme);

  [[nodiscard]] bool has_signed(std::string_view message, std::string_view signature) const;

 private:
  struct Deleter {
    void operator()(evp_pkey_st* key) const;
  };
  PublicKey(evp_pkey_st* key, SignatureScheme scheme) : key_(key), scheme_(scheme) {}

  std::unique_ptr<evp_pkey_st, Deleter> key_;
  SignatureScheme scheme_;
};

}  // namespace axle::wheel
