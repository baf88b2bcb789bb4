#include "binaries/cut/elf_references.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

namespace axle::binaries {
namespace {

/// A container in the address space.
struct Moved {
  std::uint64_t begin;
  std::uint64_t size;
  std::uint64_t new_begin;
  std::uint64_t new_size;
};

bool is_relative(std::uint16_t machine, std::uint64_t type) {
  if (machine == EM_X86_64) return type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE;
  if (machine == EM_AARCH64) return type == R_AARCH64_RELATIVE || type == R_AARCH64_IRELATIVE;
  return false;
}

class References {
 public:
  References(const ElfImage& image, std::span<const SectionToCut> cuts)
      : image_(image), cuts_(cuts) {
    for (const SectionToCut& one : cuts) {
      const std::uint64_t address = image.sections[one.index].sh_addr;
      for (const MovedContainer& container : one.cut.containers) {
        moved_.push_back({address + container.offset, container.size,
                          address + container.new_offset, container.new_size});
      }
    }
    std::ranges::sort(moved_, {}, &Moved::begin);
  }

  Result<MovedReferences> run() {
    for (const auto step : {&References::read_dynamic_relocations, &References::read_packed,
                            &References::read_wrappers, &References::read_sections}) {
      if (auto done = (this->*step)(); !done) return std::unexpected(std::move(done).error());
    }
    MovedReferences references{std::move(patches_), {}};
    for (const Moved& one : moved_) {
      if (!pointed_at_.contains(one.begin)) references.without.push_back(one.begin);
    }
    return references;
  }

 private:
  static std::unexpected<Error> refuse(std::uint64_t address, std::string_view problem) {
    return fail(ErrorKind::unsupported,
                fmt::format("the GPU code at address {:#x} cannot be moved: {}", address, problem));
  }
  static std::unexpected<Error> damaged() {
    return fail(ErrorKind::malformed, "its relocations are damaged");
  }

  [[nodiscard]] bool is_cut(std::uint64_t address) const {
    return std::ranges::any_of(cuts_, [&](const SectionToCut& one) {
      const Elf64_Shdr& section = image_.sections[one.index];
      return address >= section.sh_addr && address - section.sh_addr < section.sh_size;
    });
  }
  [[nodiscard]] bool is_cut_section(std::uint64_t index) const {
    return std::ranges::any_of(cuts_, [&](const SectionToCut& one) { return one.index == index; });
  }

  /// The container that begins there.
  [[nodiscard]] const Moved* starting_at(std::uint64_t address) const {
    const auto found = std::ranges::lower_bound(moved_, address, {}, &Moved::begin);
    return found != moved_.end() && found->begin == address ? &*found : nullptr;
  }

  /// A pointer at `offset` of the file, or the addend that becomes one.
  Result<void> point(std::uint64_t offset, std::uint64_t address) {
    if (!is_cut(address)) return {};
    const Moved* moved = starting_at(address);
    if (moved == nullptr) return refuse(address, "something points into the middle of it");
    patches_[offset] = moved->new_begin;
    pointed_at_.insert(address);
    return {};
  }

  /// The word that a relocation fills. Some linkers leave the address there, too.
  Result<void> point_in_place(std::uint64_t address) {
    const auto offset = image_.in_file(address, sizeof(std::uint64_t));
    if (!offset) return {};
    return point(*offset, elf_record<std::uint64_t>(image_.file, *offset));
  }

  Result<void> read_rela(std::uint64_t offset, std::uint64_t size) {
    for (std::uint64_t at = 0; size - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
      const auto rela = elf_record<Elf64_Rela>(image_.file, offset + at);
      const std::uint64_t type = ELF64_R_TYPE(rela.r_info);
      const auto addend = static_cast<std::uint64_t>(rela.r_addend);
      if (is_relative(image_.header.e_machine, type)) {
        if (!is_cut(addend)) continue;
        const std::uint64_t place = offset + at + offsetof(Elf64_Rela, r_addend);
        if (auto done = point(place, addend); !done) return done;
        if (auto done = point_in_place(rela.r_offset); !done) return done;
      } else if (const std::uint64_t symbol = ELF64_R_SYM(rela.r_info);
                 symbol != 0 && refers_to_cut(symbol) && addend != 0) {
        return refuse(rela.r_offset, "a symbol with an addend points there");
      }
    }
    return {};
  }

  /// Whether that dynamic symbol is in a section that is cut.
  [[nodiscard]] bool refers_to_cut(std::uint64_t symbol) const {
    const auto table = image_.dynamic_value(DT_SYMTAB);
    if (!table || symbol > UINT32_MAX) return false;
    const auto offset = image_.in_file(*table + symbol * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
    return offset && is_cut_section(elf_record<Elf64_Sym>(image_.file, *offset).st_shndx);
  }

  Result<void> read_dynamic_relocations() {
    for (const auto& [tag, size_tag] :
         {std::pair<std::int64_t, std::int64_t>{DT_RELA, DT_RELASZ}, {DT_JMPREL, DT_PLTRELSZ}}) {
      const auto address = image_.dynamic_value(tag);
      const auto size = image_.dynamic_value(size_tag);
      if (!address || !size || *size == 0) continue;
      const auto offset = image_.in_file(*address, *size);
      if (!offset) return damaged();
      if (auto done = read_rela(*offset, *size); !done) return done;
    }
    if (image_.dynamic_value(DT_REL).value_or(0) != 0)
      return fail(ErrorKind::unsupported, "it has relocations without addends (DT_REL)");
    return {};
  }

  /// DT_RELR: an address, then words whose bits say which of the next 63 words are pointers (gABI,
  /// "Relative Relocation Table").
  Result<void> read_packed() {
    const auto table = image_.dynamic_value(DT_RELR);
    const auto size = image_.dynamic_value(DT_RELRSZ);
    if (!table || !size || *size == 0) return {};
    const auto offset = image_.in_file(*table, *size);
    if (!offset) return damaged();
    constexpr std::uint64_t word = sizeof(std::uint64_t);
    std::uint64_t next = 0;
    for (std::uint64_t at = 0; *size - at >= word; at += word) {
      const auto entry = elf_record<std::uint64_t>(image_.file, *offset + at);
      if ((entry & 1) == 0) {
        if (auto done = point_in_place(entry); !done) return done;
        next = entry + word;
        continue;
      }
      for (std::uint64_t bit = 0; bit < 63; ++bit) {
        if (((entry >> (bit + 1)) & 1) == 0) continue;
        if (auto done = point_in_place(next + bit * word); !done) return done;
      }
      next += 63 * word;
    }
    return {};
  }

  /// A program that is loaded where it says has no relocations: its pointers are in the records
  /// that register the code (crt/host_runtime.h and CUDA's fatbinary_section.h; HIP has the same).
  Result<void> read_wrappers() {
    constexpr std::uint32_t cuda = 0x466243B1;
    constexpr std::uint32_t hip = 0x48495046;
    constexpr std::uint64_t record_size = 24;
    if (image_.header.e_type != ET_EXEC) return {};
    for (const Elf64_Shdr& section : image_.sections) {
      const std::string_view name = image_.name_of(section);
      if (name != ".nvFatBinSegment" && name != ".hipFatBinSegment") continue;
      const std::string_view bytes = image_.bytes_of(section);
      for (std::uint64_t at = 0; bytes.size() - at >= record_size; at += record_size) {
        const auto magic = elf_record<std::uint32_t>(bytes, at);
        if (magic != cuda && magic != hip) break;
        const std::uint64_t place = section.sh_offset + at + 8;
        if (auto done = point(place, elf_record<std::uint64_t>(image_.file, place)); !done)
          return done;
      }
    }
    return {};
  }

  Result<void> read_sections() {
    for (const Elf64_Shdr& section : image_.sections) {
      Result<void> done;
      if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM)
        done = read_symbols(section);
      const bool kept_relocations = (section.sh_flags & SHF_ALLOC) == 0;
      if ((section.sh_type == SHT_RELA || section.sh_type == SHT_REL) && kept_relocations)
        done = fail(ErrorKind::unsupported, "it was linked with --emit-relocs");
      if (!done) return done;
    }
    return {};
  }

  Result<void> read_symbols(const Elf64_Shdr& section) {
    const bool dynamic = section.sh_type == SHT_DYNSYM;
    for (std::uint64_t at = 0; section.sh_size - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
      const std::uint64_t place = section.sh_offset + at;
      const auto symbol = elf_record<Elf64_Sym>(image_.file, place);
      if (!is_cut_section(symbol.st_shndx) || ELF64_ST_TYPE(symbol.st_info) == STT_SECTION)
        continue;
      const Moved* moved = starting_at(symbol.st_value);
      if (moved == nullptr && dynamic)
        return refuse(symbol.st_value, "a symbol points into the middle of it");
      if (moved == nullptr) moved = containing(symbol.st_value);
      if (moved == nullptr) continue;
      const std::uint64_t inside = std::min(symbol.st_value - moved->begin, moved->new_size);
      patches_[place + offsetof(Elf64_Sym, st_value)] = moved->new_begin + inside;
      if (symbol.st_size > moved->new_size - inside)
        patches_[place + offsetof(Elf64_Sym, st_size)] = moved->new_size - inside;
    }
    return {};
  }

  [[nodiscard]] const Moved* containing(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(moved_, address, {}, &Moved::begin);
    return after == moved_.begin() ? nullptr : &*std::prev(after);
  }

  const ElfImage& image_;
  std::span<const SectionToCut> cuts_;
  std::vector<Moved> moved_;  ///< by address
  std::set<std::uint64_t> pointed_at_;
  Patches patches_;
};

}  // namespace

Result<MovedReferences> moved_references(const ElfImage& image,
                                         std::span<const SectionToCut> cuts) {
  return References(image, cuts).run();
}

}  // namespace axle::binaries
