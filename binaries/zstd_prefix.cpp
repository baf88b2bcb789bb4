#include "binaries/zstd_prefix.h"

#include <bit>

#include <dlfcn.h>

namespace axle::binaries {
namespace {

// The stable part of zstd.h ("Streaming decompression"); sizes above the largest error code are
// errors, which ZSTD_isError tells.
struct InBuffer {
  const void* source;
  std::size_t size;
  std::size_t position;
};
struct OutBuffer {
  void* target;
  std::size_t size;
  std::size_t position;
};

struct ZstdLibrary {
  void* (*create)() = nullptr;
  std::size_t (*release)(void*) = nullptr;
  std::size_t (*unpack)(void*, OutBuffer*, InBuffer*) = nullptr;
  unsigned (*is_error)(std::size_t) = nullptr;

  [[nodiscard]] bool complete() const {
    return create != nullptr && release != nullptr && unpack != nullptr && is_error != nullptr;
  }
};

ZstdLibrary open_library() {
  ZstdLibrary library;
  void* handle = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return library;
  library.create = std::bit_cast<void* (*)()>(dlsym(handle, "ZSTD_createDStream"));
  library.release = std::bit_cast<std::size_t (*)(void*)>(dlsym(handle, "ZSTD_freeDStream"));
  library.unpack = std::bit_cast<std::size_t (*)(void*, OutBuffer*, InBuffer*)>(
      dlsym(handle, "ZSTD_decompressStream"));
  library.is_error = std::bit_cast<unsigned (*)(std::size_t)>(dlsym(handle, "ZSTD_isError"));
  return library;
}

}  // namespace

Result<std::string> unpack_zstd_prefix(std::string_view packed, std::size_t wanted) {
  static const ZstdLibrary library = open_library();
  if (!library.complete())
    return fail(ErrorKind::unsupported, "libzstd.so.1 is not installed", "install libzstd1");
  void* stream = library.create();
  if (stream == nullptr) return fail(ErrorKind::unsupported, "zstd ran out of memory");
  std::string bytes(wanted, '\0');
  InBuffer in{packed.data(), packed.size(), 0};
  OutBuffer out{bytes.data(), bytes.size(), 0};
  std::size_t state = 1;
  while (state != 0 && out.position < out.size) {
    const std::size_t before_in = in.position;
    const std::size_t before_out = out.position;
    state = library.unpack(stream, &out, &in);
    if (library.is_error(state) != 0) break;
    if (in.position == before_in && out.position == before_out)
      break;  // needs data that is not available
  }
  library.release(stream);
  if (state != 0 && library.is_error(state) != 0)
    return fail(ErrorKind::malformed, "the compressed bundle is not a zstd frame");
  bytes.resize(out.position);
  return bytes;
}

}  // namespace axle::binaries
