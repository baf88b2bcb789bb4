#include "wheel/attestation/public_key.h"

#include "wheel/attestation/openssl_certificates.h"

namespace axle::wheel {
namespace {

int key_type_of(SignatureScheme scheme) {
  switch (scheme) {
    case SignatureScheme::ecdsa_sha256:
    case SignatureScheme::ecdsa_sha384:
    case SignatureScheme::ecdsa_sha512:
      return EVP_PKEY_EC;
    case SignatureScheme::rsa_sha256:
    case SignatureScheme::rsa_sha512:
      return EVP_PKEY_RSA;
    case SignatureScheme::ed25519:
      return EVP_PKEY_ED25519;
  }
  return EVP_PKEY_NONE;
}

/// nullptr where the scheme has its own.
const EVP_MD* digest_of(SignatureScheme scheme) {
  const OpensslCertificates& openssl = openssl_certificates();
  switch (scheme) {
    case SignatureScheme::ecdsa_sha256:
    case SignatureScheme::rsa_sha256:
      return openssl.sha256();
    case SignatureScheme::ecdsa_sha384:
      return openssl.sha384();
    case SignatureScheme::ecdsa_sha512:
    case SignatureScheme::rsa_sha512:
      return openssl.sha512();
    case SignatureScheme::ed25519:
      break;
  }
  return nullptr;
}

}  // namespace

std::optional<PublicKey> PublicKey::parse(std::string_view bytes, SignatureScheme scheme) {
  const OpensslCertificates& openssl = openssl_certificates();
  const unsigned char* at = bytes_of(bytes);
  const std::unique_ptr<EVP_PKEY, Deleter> key(
      openssl.parse_key(nullptr, &at, static_cast<long>(bytes.size())));
  openssl.clear_errors();
  if (!key || at != bytes_of(bytes) + bytes.size()) return std::nullopt;
  return of(key.get(), scheme);
}

std::optional<PublicKey> PublicKey::of(evp_pkey_st* key, SignatureScheme scheme) {
  const OpensslCertificates& openssl = openssl_certificates();
  if (key == nullptr || openssl.key_type(key) != key_type_of(scheme)) return std::nullopt;
  openssl.share_key(key);
  return PublicKey(key, scheme);
}

void PublicKey::Deleter::operator()(evp_pkey_st* key) const {
  openssl_certificates().free_key(key);
}

bool PublicKey::has_signed(std::string_view message, std::string_view signature) const {
  const OpensslCertificates& openssl = openssl_certificates();
  const std::unique_ptr<EVP_MD_CTX, decltype(openssl.free_digest)> context(openssl.new_digest(),
                                                                           openssl.free_digest);
  const bool good = context &&
                    openssl.begin_verification(context.get(), nullptr, digest_of(scheme_), nullptr,
                                               key_.get()) == 1 &&
                    openssl.verify(context.get(), bytes_of(signature), signature.size(),
                                   bytes_of(message), message.size()) == 1;
  openssl.clear_errors();
  return good;
}

}  // namespace axle::wheel
