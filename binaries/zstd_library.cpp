#include "binaries/zstd_library.h"

#include "wheel/libraries/opened_libraries.h"

namespace axle::binaries {
namespace {

ZstdLibrary open_zstd() {
  ZstdLibrary library;
  try {
    wheel::find_in_zstd("ZSTD_createDStream", library.create);
    wheel::find_in_zstd("ZSTD_freeDStream", library.release);
    wheel::find_in_zstd("ZSTD_decompressStream", library.unpack);
    wheel::find_in_zstd("ZSTD_isError", library.is_error);
  } catch (const wheel::LibraryUnavailable&) {
    return {};
  }
  return library;
}

}  // namespace

const ZstdLibrary* zstd_library() {
  static const ZstdLibrary library = open_zstd();
  return library.is_error != nullptr ? &library : nullptr;
}

}  // namespace axle::binaries
