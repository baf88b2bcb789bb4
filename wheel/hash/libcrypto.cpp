#include "wheel/hash/libcrypto.h"

#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <openssl/opensslv.h>

namespace axle::wheel {
namespace {

void* open_libcrypto() {
  const std::string file = "libcrypto.so." + std::to_string(OPENSSL_SHLIB_VERSION);
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    throw std::runtime_error(file + " (OpenSSL) cannot be loaded: " + ::dlerror());
  }
  return library;
}

}  // namespace

void* libcrypto_function(const char* name) {
  static void* const library = open_libcrypto();
  void* const function = ::dlsym(library, name);
  if (function == nullptr) throw std::runtime_error(std::string("libcrypto has no ") + name);
  return function;
}

}  // namespace axle::wheel
