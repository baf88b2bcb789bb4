#pragma once
// The system's libzstd, opened on first use: few commands need it. The stable part of zstd.h
// ("Streaming decompression").

#include <cstddef>

namespace axle::binaries {

struct ZstdInput {
  const void* source;
  std::size_t size;
  std::size_t position;
};
struct ZstdOutput {
  void* target;
  std::size_t size;
  std::size_t position;
};

struct ZstdLibrary {
  void* (*create)() = nullptr;  ///< ZSTD_createDStream
  std::size_t (*release)(void*) = nullptr;
  std::size_t (*unpack)(void*, ZstdOutput*, ZstdInput*) = nullptr;  ///< 0: a frame has ended
  unsigned (*is_error)(std::size_t) = nullptr;
};

/// nullptr: it is not installed, or not that one.
[[nodiscard]] const ZstdLibrary* zstd_library();

}  // namespace axle::binaries
