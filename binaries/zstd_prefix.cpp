#include "binaries/zstd_prefix.h"

#include "binaries/zstd_library.h"

namespace axle::binaries {

Result<std::string> unpack_zstd_prefix(std::string_view packed, std::size_t wanted) {
  const ZstdLibrary* library = zstd_library();
  if (library == nullptr)
    return fail(ErrorKind::unsupported, "libzstd.so.1 is not installed", "install libzstd1");
  void* stream = library->create();
  if (stream == nullptr) return fail(ErrorKind::unsupported, "zstd ran out of memory");
  std::string bytes(wanted, '\0');
  ZstdInput in{packed.data(), packed.size(), 0};
  ZstdOutput out{bytes.data(), bytes.size(), 0};
  std::size_t state = 1;
  while (state != 0 && out.position < out.size) {
    const std::size_t before_in = in.position;
    const std::size_t before_out = out.position;
    state = library->unpack(stream, &out, &in);
    if (library->is_error(state) != 0) break;
    if (in.position == before_in && out.position == before_out)
      break;  // needs data that is not available
  }
  library->release(stream);
  if (state != 0 && library->is_error(state) != 0)
    return fail(ErrorKind::malformed, "the compressed bundle is not a zstd frame");
  bytes.resize(out.position);
  return bytes;
}

}  // namespace axle::binaries
