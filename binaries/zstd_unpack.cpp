#include "binaries/zstd_unpack.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "binaries/zstd_library.h"

namespace axle::binaries {
namespace {

/// Bytes that are read, and that are unpacked, at a time.
constexpr std::size_t piece = 256UL << 10U;

class Unpacking {
 public:
  Unpacking() = default;
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;
  ~Unpacking() {
    if (stream_ != nullptr) library_->release(stream_);
  }

  Result<void> open() {
    library_ = zstd_library();
    if (library_ == nullptr)
      return fail(ErrorKind::unsupported, "libzstd.so.1 is not installed", "install libzstd1");
    stream_ = library_->create();
    if (stream_ == nullptr) return fail(ErrorKind::unsupported, "zstd ran out of memory");
    return {};
  }

  /// Adds what `packed` holds to `bytes`, until they are `most`, the packed bytes end or the frame
  /// does. Returns how many of the packed bytes were taken.
  Result<std::size_t> add(std::string_view packed, std::string& bytes, std::size_t most) {
    ZstdInput in{packed.data(), packed.size(), 0};
    while (!ended_ && bytes.size() < most) {
      const std::size_t filled = bytes.size();
      const std::size_t before = in.position;
      bytes.resize(std::min(most, filled + piece));
      ZstdOutput out{bytes.data(), bytes.size(), filled};
      const std::size_t state = library_->unpack(stream_, &out, &in);
      bytes.resize(out.position);
      if (library_->is_error(state) != 0)
        return fail(ErrorKind::malformed, "the compressed bytes are not a zstd frame");
      ended_ = state == 0;
      if (in.position == before && out.position == filled) break;
    }
    return in.position;
  }

  [[nodiscard]] bool ended() const { return ended_; }

 private:
  const ZstdLibrary* library_ = nullptr;
  void* stream_ = nullptr;
  bool ended_ = false;
};

}  // namespace

Result<std::string> unpack_zstd_prefix(std::string_view packed, std::size_t wanted) {
  Unpacking unpacking;
  if (auto done = unpacking.open(); !done) return std::unexpected(std::move(done).error());
  std::string bytes;
  if (auto done = unpacking.add(packed, bytes, wanted); !done)
    return std::unexpected(std::move(done).error());
  return bytes;
}

Result<ZstdFrame> unpack_zstd_frame(wheel::ByteSource& packed, std::size_t most) {
  Unpacking unpacking;
  if (auto done = unpacking.open(); !done) return std::unexpected(std::move(done).error());
  ZstdFrame frame;
  std::string read(piece, '\0');
  while (!unpacking.ended()) {
    read.resize(std::min<std::uint64_t>(piece, packed.size() - frame.packed_size));
    if (read.empty()) return fail(ErrorKind::malformed, "a zstd frame is truncated");
    if (auto done = packed.read(frame.packed_size,
                                std::as_writable_bytes(std::span(read.data(), read.size())));
        !done)
      return std::unexpected(std::move(done).error());
    // One byte more than allowed shows that there are more.
    const auto taken = unpacking.add(read, frame.bytes, most + 1);
    if (!taken) return std::unexpected(taken.error());
    if (frame.bytes.size() > most)
      return fail(ErrorKind::unsupported,
                  fmt::format("the compressed content is larger than {} bytes", most));
    frame.packed_size += *taken;
  }
  return frame;
}

}  // namespace axle::binaries
