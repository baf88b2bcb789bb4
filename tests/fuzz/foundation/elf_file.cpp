// Files that call themselves shared libraries: all that the loader reads of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "foundation/elf/elf_dynamic.h"
#include "foundation/elf/elf_symbols.h"
#include "foundation/elf/elf_tables.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace elf = axle::elf;
  elf::MemoryBytes bytes(std::string_view(reinterpret_cast<const char*>(data), size));
  if (elf::read_loader(bytes).size() > 4096) std::abort();
  const auto tables = elf::read_tables(bytes);
  if (!tables) return 0;
  for (const elf::Section& section : tables->sections) {
    if (section.size != 0 && !bytes.contains(section.offset, section.size)) std::abort();
  }
  (void)elf::defines_symbol(bytes, *tables, "PyInit_");
  const auto dynamic = elf::read_dynamic(bytes, *tables);
  if (!dynamic) return 0;
  if (dynamic->names(1).size() > 4096) std::abort();
  (void)dynamic->whole();
  const auto needs = elf::read_version_needs(bytes, *tables, *dynamic);
  if (needs && needs->size() > 4096) std::abort();
  const auto definitions = elf::read_version_definitions(bytes, *tables, *dynamic);
  if (definitions && definitions->size() > 4096) std::abort();
  return 0;
}
