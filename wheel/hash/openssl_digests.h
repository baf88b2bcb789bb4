#pragma once
// The digests of OpenSSL, opened on first use: linking libcrypto would cost every start of the
// program 0.7 ms (a hundred pages of relocations), also of commands that hash nothing.

#include <openssl/evp.h>

namespace axle::wheel {

/// As in EVP_DigestInit(3) and EVP_MD_fetch(3).
struct OpensslDigests {
  decltype(&EVP_MD_CTX_new) context_new = nullptr;
  decltype(&EVP_MD_CTX_free) context_free = nullptr;
  decltype(&EVP_MD_fetch) fetch = nullptr;
  decltype(&EVP_MD_free) free = nullptr;
  decltype(&EVP_DigestInit_ex) init = nullptr;
  decltype(&EVP_DigestUpdate) update = nullptr;
  decltype(&EVP_DigestFinal_ex) final = nullptr;
};

/// Throws std::runtime_error where the library that the headers belong to is not installed.
[[nodiscard]] const OpensslDigests& openssl_digests();

}  // namespace axle::wheel
