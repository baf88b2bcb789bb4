#include "wheel/opened_libraries.h"

#include <string>

#include <dlfcn.h>
#include <openssl/opensslv.h>

namespace axle::wheel {
namespace {

void* open_library(const std::string& file, const char* title) {
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    throw LibraryUnavailable(file + " (" + title + ") cannot be loaded: " + ::dlerror());
  }
  return library;
}

void* opened(OpenedLibrary library) {
  if (library == OpenedLibrary::libcrypto) {
    static void* const libcrypto =
        open_library("libcrypto.so." + std::to_string(OPENSSL_SHLIB_VERSION), "OpenSSL");
    return libcrypto;
  }
  static void* const isal = open_library("libisal.so.2", "ISA-L");
  return isal;
}

}  // namespace

void* library_function(OpenedLibrary library, const char* name) {
  void* const function = ::dlsym(opened(library), name);
  if (function == nullptr) {
    throw LibraryUnavailable(
        std::string(library == OpenedLibrary::libcrypto ? "libcrypto" : "ISA-L") + " has no " +
        name);
  }
  return function;
}

}  // namespace axle::wheel
