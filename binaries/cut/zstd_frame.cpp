#include "binaries/cut/zstd_frame.h"

#include <cstddef>

#include <fmt/format.h>

#include "wheel/libraries/opened_libraries.h"

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
};

Zstd open_zstd() {
  Zstd zstd;
  try {
    wheel::find_in_zstd("ZSTD_compress", zstd.pack);
    wheel::find_in_zstd("ZSTD_decompress", zstd.unpack);
    wheel::find_in_zstd("ZSTD_compressBound", zstd.bound);
    wheel::find_in_zstd("ZSTD_isError", zstd.is_error);
  } catch (const wheel::LibraryUnavailable&) {
    return {};
  }
  return zstd;
}

Result<const Zstd*> zstd_library() {
  static const Zstd zstd = open_zstd();
  if (zstd.is_error != nullptr) return &zstd;
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
