#include "wheel/libraries/opened_libraries.h"

#include <string>

#include <dlfcn.h>
#include <openssl/opensslv.h>

namespace axle::wheel {
namespace {

struct LibraryFile {
  const char* title;
  std::string file;
};

LibraryFile file_of(OpenedLibrary library) {
  switch (library) {
    case OpenedLibrary::libcrypto:
      return {"OpenSSL", "libcrypto.so." + std::to_string(OPENSSL_SHLIB_VERSION)};
    case OpenedLibrary::isal:
      return {"ISA-L", "libisal.so.2"};
    case OpenedLibrary::zstd:
      break;
  }
  return {"zstd", "libzstd.so.1"};
}

void* open_library(OpenedLibrary library) {
  const auto [title, file] = file_of(library);
  void* const opened = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (opened == nullptr)
    throw LibraryUnavailable(file + " (" + title + ") cannot be loaded: " + ::dlerror());
  return opened;
}

template <OpenedLibrary library>
void* opened() {
  static void* const once = open_library(library);
  return once;
}

void* handle_of(OpenedLibrary library) {
  switch (library) {
    case OpenedLibrary::libcrypto:
      return opened<OpenedLibrary::libcrypto>();
    case OpenedLibrary::isal:
      return opened<OpenedLibrary::isal>();
    case OpenedLibrary::zstd:
      break;
  }
  return opened<OpenedLibrary::zstd>();
}

}  // namespace

void* library_function(OpenedLibrary library, const char* name) {
  if (void* const carried = carried_function(name)) return carried;
  void* const function = ::dlsym(handle_of(library), name);
  if (function == nullptr)
    throw LibraryUnavailable(std::string(file_of(library).title) + " has no " + name);
  return function;
}

}  // namespace axle::wheel
