#include "wheel/hash/openssl_digests.h"

#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <openssl/opensslv.h>

namespace axle::wheel {
namespace {

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(std::string("libcrypto has no ") + name);
}

OpensslDigests open_digests() {
  const std::string file = "libcrypto.so." + std::to_string(OPENSSL_SHLIB_VERSION);
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    throw std::runtime_error(file + " (OpenSSL) cannot be loaded: " + ::dlerror());
  }
  OpensslDigests digests;
  find(library, "SHA256_Init", digests.sha256_init);
  find(library, "SHA256_Update", digests.sha256_update);
  find(library, "SHA256_Final", digests.sha256_final);
  find(library, "EVP_MD_CTX_new", digests.context_new);
  find(library, "EVP_MD_CTX_free", digests.context_free);
  find(library, "EVP_MD_fetch", digests.fetch);
  find(library, "EVP_MD_free", digests.free);
  find(library, "EVP_DigestInit_ex", digests.init);
  find(library, "EVP_DigestUpdate", digests.update);
  find(library, "EVP_DigestFinal_ex", digests.final);
  return digests;
}

}  // namespace

const OpensslDigests& openssl_digests() {
  static const OpensslDigests digests = open_digests();
  return digests;
}

}  // namespace axle::wheel
