// A file that calls itself a driver library, and the text of its note.
#include "detect/elf_note.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "detect/nvidia/cuda_compat.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  std::size_t most = 0;
  const axle::detect::ReadAt read_at = [&](std::uint64_t offset, std::size_t wanted) {
    if (wanted > most) most = wanted;
    return offset < file.size() ? std::string(file.substr(static_cast<std::size_t>(offset), wanted))
                                : std::string();
  };
  const auto note = axle::detect::find_elf_note(read_at, axle::detect::compat_note_section,
                                                axle::detect::compat_note_owner);
  if (note && note->size() > 64 * 1024) std::abort();
  if (most > 512 * 1024) std::abort();
  const auto parsed = axle::detect::parse_compat_note(note.value_or(std::string(file)));
  if (parsed && (parsed->cuda_version.empty() || parsed->cuda_version.size() > 16 ||
                 parsed->branches.size() > 256)) {
    std::abort();
  }
  static_cast<void>(axle::detect::is_compat_path(file));
  return 0;
}
