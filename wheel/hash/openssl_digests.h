#pragma once
// The digests of OpenSSL (libcrypto.h).

#include <openssl/evp.h>
#include <openssl/sha.h>

namespace axle::wheel {

/// As in EVP_DigestInit(3), EVP_MD_fetch(3) and SHA256_Init(3).
struct OpensslDigests {
  decltype(&SHA256_Init) sha256_init = nullptr;
  decltype(&SHA256_Update) sha256_update = nullptr;
  decltype(&SHA256_Final) sha256_final = nullptr;
  decltype(&EVP_MD_CTX_new) context_new = nullptr;
  decltype(&EVP_MD_CTX_free) context_free = nullptr;
  decltype(&EVP_MD_fetch) fetch = nullptr;
  decltype(&EVP_MD_free) free = nullptr;
  decltype(&EVP_DigestInit_ex) init = nullptr;
  decltype(&EVP_DigestUpdate) update = nullptr;
  decltype(&EVP_DigestFinal_ex) final = nullptr;
};

/// Throws LibraryUnavailable (wheel/libraries/opened_libraries.h).
[[nodiscard]] const OpensslDigests& openssl_digests();

}  // namespace axle::wheel
