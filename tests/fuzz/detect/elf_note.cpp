// A file that calls itself a driver library, and the text of its note.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "detect/nvidia/cuda_compat.h"
#include "foundation/elf/elf_notes.h"

namespace {

/// Knows how much was asked for at once.
class WatchedBytes final : public axle::elf::Bytes {
 public:
  explicit WatchedBytes(std::string_view file)
      : Bytes(axle::detect::largest_driver_table), file_(file) {}
  [[nodiscard]] std::uint64_t size() const override { return file_.size(); }

 private:
  bool read(std::uint64_t offset, std::span<std::byte> out) override {
    if (out.size() > 512 * 1024 || offset > file_.size() || file_.size() - offset < out.size())
      std::abort();
    if (!out.empty()) std::memcpy(out.data(), file_.data() + offset, out.size());
    return true;
  }

  std::string_view file_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  WatchedBytes bytes(file);
  const auto note = axle::detect::find_compat_note(bytes);
  if (note && note->size() > 64 * 1024) std::abort();
  const auto parsed = axle::detect::parse_compat_note(note.value_or(std::string(file)));
  if (parsed && (parsed->cuda_version.empty() || parsed->cuda_version.size() > 16 ||
                 parsed->branches.size() > 256)) {
    std::abort();
  }
  static_cast<void>(axle::detect::is_compat_path(file));
  return 0;
}
