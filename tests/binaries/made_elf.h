#pragma once
// Shared libraries of 64 bits as bytes, with sections that records elsewhere point at.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

namespace axle::binaries::testing {

/// In memory as in the file, but for the second segment, which lies a page further. The first one
/// has the relocations, `code` (each section at a page) and `tail`; the second one the dynamic
/// table and, for each of `pointers`, a record whose second word leads there.
struct MadeElf {
  struct Pointer {
    std::size_t section;  ///< of `code`
    std::uint64_t inside;
  };

  std::vector<std::string> code = {};
  std::vector<Pointer> pointers = {};
  std::string tail = std::string(3000, 't');
  std::uint64_t page = 4096;
  /// May change what is about to be written.
  std::function<void(MadeElf&)> last = [](MadeElf&) {};

  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments = {};
  std::vector<Elf64_Shdr> sections = {};
  std::string bytes = {};

  static constexpr std::uint64_t relocations_at = 2048;
  static constexpr std::uint64_t record_size = 32;
  /// Of the record of a pointer, in memory.
  [[nodiscard]] std::uint64_t record_at(std::size_t pointer) const {
    return segments[1].p_vaddr + record_size * pointer;
  }

  template <class Record>
  void put(std::uint64_t at, const Record& record) {
    bytes.resize(std::max<std::size_t>(bytes.size(), at + sizeof(record)));
    std::memcpy(bytes.data() + at, &record, sizeof(record));
  }
  std::uint64_t append(std::string_view more_bytes, std::uint64_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
    bytes += more_bytes;
    return bytes.size() - more_bytes.size();
  }
  void add_section(unsigned name, unsigned type, unsigned flags, std::uint64_t address,
                   std::uint64_t offset, std::uint64_t size) {
    sections.push_back({name, type, flags, address, offset, size, 0, 0, 8, 0});
  }

  std::string made() {
    constexpr std::string_view names("\0.nv_fatbin\0.tail\0.data\0.shstrtab\0", 34);
    segments.clear();
    sections.assign(1, {});
    bytes.assign(relocations_at + pointers.size() * sizeof(Elf64_Rela), '\0');
    for (const std::string& one : code) {
      const std::uint64_t at = append(one, 4096);
      add_section(1, SHT_PROGBITS, SHF_ALLOC, at, at, one.size());
    }
    if (!tail.empty()) {
      const std::uint64_t at = append(tail, 16);
      add_section(12, SHT_PROGBITS, SHF_ALLOC, at, at, tail.size());
    }
    segments.push_back({PT_LOAD, PF_R, 0, 0, 0, bytes.size(), bytes.size(), page});
    const std::uint64_t data = append("", page);
    const std::uint64_t address = data + page;
    const std::uint64_t dynamic = data + record_size * pointers.size();
    for (std::size_t i = 0; i < pointers.size(); ++i) {
      const std::uint64_t to = sections[pointers[i].section + 1].sh_addr + pointers[i].inside;
      put(data + record_size * i + 8, to);
      put(relocations_at + i * sizeof(Elf64_Rela),
          Elf64_Rela{address + record_size * i + 8, R_X86_64_RELATIVE,
                     static_cast<Elf64_Sxword>(to)});
    }
    put(dynamic, Elf64_Dyn{DT_RELA, {relocations_at}});
    put(dynamic + 16, Elf64_Dyn{DT_RELASZ, {pointers.size() * sizeof(Elf64_Rela)}});
    put(dynamic + 32, Elf64_Dyn{DT_NULL, {0}});
    const std::uint64_t size = bytes.size() - data;
    segments.push_back({PT_LOAD, PF_R | PF_W, data, address, address, size, size + 100, page});
    segments.push_back({PT_DYNAMIC, PF_R, dynamic, address + dynamic - data, 0, 48, 48, 8});
    add_section(18, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, address, data, size);
    const std::uint64_t strings = append(names, 1);
    add_section(24, SHT_STRTAB, 0, 0, strings, names.size());
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = header.e_version = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_ehsize = sizeof(header);
    header.e_phoff = sizeof(header);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shoff = append("", 8);
    header.e_shstrndx = static_cast<Elf64_Half>(sections.size() - 1);
    last(*this);
    header.e_phnum = static_cast<Elf64_Half>(segments.size());
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    put(0, header);
    for (std::size_t i = 0; i < segments.size(); ++i)
      put(header.e_phoff + i * sizeof(Elf64_Phdr), segments[i]);
    for (std::size_t i = 0; i < sections.size(); ++i)
      put(header.e_shoff + i * sizeof(Elf64_Shdr), sections[i]);
    return bytes;
  }
};

template <class Record>
Record record_of(std::string_view bytes, std::uint64_t at) {
  Record record{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof(record))
    std::memcpy(&record, bytes.data() + at, sizeof(record));
  return record;
}

inline std::vector<Elf64_Phdr> segments_of(std::string_view file) {
  const auto header = record_of<Elf64_Ehdr>(file, 0);
  std::vector<Elf64_Phdr> all;
  for (unsigned i = 0; i < header.e_phnum; ++i)
    all.push_back(record_of<Elf64_Phdr>(file, header.e_phoff + i * sizeof(Elf64_Phdr)));
  return all;
}

/// What a loader makes of it: the bytes from address 0 on, "?" where there are none. Empty: a
/// loader would refuse it.
inline std::string loaded(std::string_view file) {
  std::string memory;
  std::uint64_t end = 0;
  for (const Elf64_Phdr& segment : segments_of(file)) {
    if (segment.p_type != PT_LOAD) continue;
    const bool lies =
        segment.p_vaddr >= end && segment.p_filesz <= segment.p_memsz &&
        segment.p_offset <= file.size() && segment.p_filesz <= file.size() - segment.p_offset &&
        (segment.p_vaddr - segment.p_offset) % segment.p_align == 0 && segment.p_align % 4096 == 0;
    if (!lies) return {};
    memory.resize(segment.p_vaddr, '?');
    memory += file.substr(segment.p_offset, segment.p_filesz);
    memory.resize(segment.p_vaddr + segment.p_memsz, '\0');
    end = (segment.p_vaddr + segment.p_memsz + 4095) / 4096 * 4096;
  }
  return memory;
}

}  // namespace axle::binaries::testing
