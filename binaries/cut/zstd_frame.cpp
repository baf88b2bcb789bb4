#include "binaries/cut/zstd_frame.h"

#include <bit>
#include <cstddef>

#include <dlfcn.h>
#include <fmt/format.h>

namespace axle::binaries {
namespace {

/// What clang has for --offload-compress (LLVM, OffloadBundler.cpp).
constexpr int level = 3;

// The stable part of zstd.h ("Simple API").
struct Zstd {
  std::size_t (*pack)(void*, std::size_t, const void*, std::size_t, int) = nullptr;
  std::size_t (*unpack)(void*, std::size_t, const void*, std::size_t) = nullptr;
  std::size_t (*bound)(std::size_t) = nullptr;
  unsigned (*is_error)(std::size_t) = nullptr;

  [[nodiscard]] bool complete() const {
    return pack != nullptr && unpack != nullptr && bound != nullptr && is_error != nullptr;
  }
};

template <class Function>
void find(void* handle, const char* name, Function*& function) {
  function = std::bit_cast<Function*>(dlsym(handle, name));
}

Zstd open_zstd() {
  Zstd zstd;
  void* handle = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return zstd;
  find(handle, "ZSTD_compress", zstd.pack);
  find(handle, "ZSTD_decompress", zstd.unpack);
  find(handle, "ZSTD_compressBound", zstd.bound);
  find(handle, "ZSTD_isError", zstd.is_error);
  return zstd;
}

Result<const Zstd*> zstd_library() {
  static const Zstd zstd = open_zstd();
  if (zstd.complete()) return &zstd;
  return fail(ErrorKind::unsupported, "libzstd.so.1 is not installed", "install libzstd1");
}

}  // namespace

Result<std::string> unpack_zstd(std::string_view packed, std::uint64_t size) {
  const auto zstd = zstd_library();
  if (!zstd) return std::unexpected(zstd.error());
  std::string bytes(size, '\0');
  const std::size_t got = (*zstd)->unpack(bytes.data(), bytes.size(), packed.data(), packed.size());
  if ((*zstd)->is_error(got) != 0 || got != size)
    return fail(ErrorKind::malformed,
                fmt::format("the content is no zstd frame of {} bytes", size));
  return bytes;
}

Result<std::string> pack_zstd(std::string_view bytes) {
  const auto zstd = zstd_library();
  if (!zstd) return std::unexpected(zstd.error());
  std::string packed((*zstd)->bound(bytes.size()), '\0');
  const std::size_t got =
      (*zstd)->pack(packed.data(), packed.size(), bytes.data(), bytes.size(), level);
  if ((*zstd)->is_error(got) != 0) return fail(ErrorKind::unsupported, "zstd ran out of memory");
  packed.resize(got);
  return packed;
}

}  // namespace axle::binaries
