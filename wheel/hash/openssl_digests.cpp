#include "wheel/hash/openssl_digests.h"

#include "wheel/libraries/opened_libraries.h"

namespace axle::wheel {
namespace {

OpensslDigests open_digests() {
  OpensslDigests digests;
  find_in_libcrypto("SHA256_Init", digests.sha256_init);
  find_in_libcrypto("SHA256_Update", digests.sha256_update);
  find_in_libcrypto("SHA256_Final", digests.sha256_final);
  find_in_libcrypto("EVP_MD_CTX_new", digests.context_new);
  find_in_libcrypto("EVP_MD_CTX_free", digests.context_free);
  find_in_libcrypto("EVP_MD_fetch", digests.fetch);
  find_in_libcrypto("EVP_MD_free", digests.free);
  find_in_libcrypto("EVP_DigestInit_ex", digests.init);
  find_in_libcrypto("EVP_DigestUpdate", digests.update);
  find_in_libcrypto("EVP_DigestFinal_ex", digests.final);
  return digests;
}

}  // namespace

const OpensslDigests& openssl_digests() {
  static const OpensslDigests digests = open_digests();
  return digests;
}

}  // namespace axle::wheel
