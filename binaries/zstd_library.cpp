#include "binaries/zstd_library.h"

#include <bit>

#include <dlfcn.h>

namespace axle::binaries {
namespace {

ZstdLibrary open_zstd() {
  ZstdLibrary library;
  void* handle = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return library;
  library.create = std::bit_cast<void* (*)()>(dlsym(handle, "ZSTD_createDStream"));
  library.release = std::bit_cast<std::size_t (*)(void*)>(dlsym(handle, "ZSTD_freeDStream"));
  library.unpack = std::bit_cast<std::size_t (*)(void*, ZstdOutput*, ZstdInput*)>(
      dlsym(handle, "ZSTD_decompressStream"));
  library.is_error = std::bit_cast<unsigned (*)(std::size_t)>(dlsym(handle, "ZSTD_isError"));
  return library;
}

}  // namespace

const ZstdLibrary* zstd_library() {
  static const ZstdLibrary library = open_zstd();
  const bool complete = library.create != nullptr && library.release != nullptr &&
                        library.unpack != nullptr && library.is_error != nullptr;
  return complete ? &library : nullptr;
}

}  // namespace axle::binaries
