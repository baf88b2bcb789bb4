// ELF files out of a staging folder.
#include "foundation/elf/elf_file.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)axle::elf::parse_elf(bytes, "fuzz");
  return 0;
}
