#include "foundation/elf/elf_file.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <elf.h>
#include <fmt/format.h>

namespace axle::elf {

namespace {

/// Bounds-checked access to the parts of a file; the first access outside makes it broken.
class ElfBytes {
 public:
  explicit ElfBytes(std::string_view bytes) : bytes_(bytes) {}

  template <class Record>
  [[nodiscard]] Record at(std::uint64_t offset) {
    static_assert(std::is_trivially_copyable_v<Record>);
    Record record{};
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Record)) {
      broken_ = true;
    } else {
      std::memcpy(&record, bytes_.data() + offset, sizeof(Record));
    }
    return record;
  }

  [[nodiscard]] std::string_view part(std::uint64_t offset, std::uint64_t size) {
    if (offset > bytes_.size() || bytes_.size() - offset < size) {
      broken_ = true;
      return {};
    }
    return bytes_.substr(offset, size);
  }

  [[nodiscard]] bool broken() const { return broken_; }
  void give_up() { broken_ = true; }

 private:
  std::string_view bytes_;
  bool broken_ = false;
};

class ElfReader {
 public:
  explicit ElfReader(std::string_view bytes) : bytes_(bytes) {}

  // False when an offset leads outside.
  bool read(ElfFile& file) {
    header_ = bytes_.at<Elf64_Ehdr>(0);
    file.architecture = header_.e_machine == EM_X86_64    ? "x86_64"
                        : header_.e_machine == EM_AARCH64 ? "aarch64"
                                                          : "";
    file.shared = header_.e_type == ET_DYN || header_.e_type == ET_EXEC;
    if (!file.shared) return !bytes_.broken();
    for (unsigned i = 0; i < header_.e_shnum && !bytes_.broken(); ++i) {
      const Elf64_Shdr header = section(i);
      if (header.sh_type == SHT_DYNAMIC) read_dynamic(header, file);
      if (header.sh_type == SHT_GNU_verneed) read_version_needs(header, file);
      if (header.sh_type == SHT_DYNSYM) read_symbols(header, file);
    }
    return !bytes_.broken();
  }

 private:
  [[nodiscard]] Elf64_Shdr section(unsigned index) {
    if (header_.e_shentsize != sizeof(Elf64_Shdr) || index >= header_.e_shnum) {
      bytes_.give_up();
      return {};
    }
    return bytes_.at<Elf64_Shdr>(header_.e_shoff + std::uint64_t{index} * sizeof(Elf64_Shdr));
  }

  [[nodiscard]] std::string_view content(const Elf64_Shdr& header) {
    return bytes_.part(header.sh_offset, header.sh_size);
  }

  // The text at `offset` of a string table; it must end inside.
  [[nodiscard]] std::string text(std::string_view strings, std::uint64_t offset) {
    constexpr std::size_t longest = 4096;
    const std::size_t end =
        offset < strings.size() ? strings.find('\0', offset) : std::string_view::npos;
    if (end == std::string_view::npos || end - offset > longest) {
      bytes_.give_up();
      return {};
    }
    return std::string(strings.substr(offset, end - offset));
  }

  void read_dynamic(const Elf64_Shdr& header, ElfFile& file) {
    const std::string_view strings = content(section(header.sh_link));
    const std::uint64_t count = content(header).size() / sizeof(Elf64_Dyn);
    for (std::uint64_t i = 0; i < count && !bytes_.broken(); ++i) {
      const auto entry = bytes_.at<Elf64_Dyn>(header.sh_offset + i * sizeof(Elf64_Dyn));
      if (entry.d_tag == DT_NULL) return;
      if (entry.d_tag == DT_NEEDED) file.needed.push_back(text(strings, entry.d_un.d_val));
      if (entry.d_tag == DT_SONAME) file.soname = text(strings, entry.d_un.d_val);
    }
  }

  // Two linked lists of relative offsets, both counted: sh_info records, vn_cnt versions each.
  void read_version_needs(const Elf64_Shdr& header, ElfFile& file) {
    const std::string_view strings = content(section(header.sh_link));
    std::uint64_t at = header.sh_offset;
    for (std::uint64_t i = 0; i < header.sh_info && !bytes_.broken(); ++i) {
      const auto need = bytes_.at<Elf64_Verneed>(at);
      const std::string library = text(strings, need.vn_file);
      std::uint64_t version_at = at + need.vn_aux;
      for (unsigned j = 0; j < need.vn_cnt && !bytes_.broken(); ++j) {
        const auto version = bytes_.at<Elf64_Vernaux>(version_at);
        file.version_needs.push_back({library, text(strings, version.vna_name)});
        if (version.vna_next == 0) break;
        version_at += version.vna_next;
      }
      if (need.vn_next == 0) break;
      at += need.vn_next;
    }
  }

  void read_symbols(const Elf64_Shdr& header, ElfFile& file) {
    const std::string_view strings = content(section(header.sh_link));
    const std::uint64_t count = content(header).size() / sizeof(Elf64_Sym);
    for (std::uint64_t i = 1; i < count && !bytes_.broken(); ++i) {
      const auto symbol = bytes_.at<Elf64_Sym>(header.sh_offset + i * sizeof(Elf64_Sym));
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= strings.size()) continue;
      if (strings.substr(symbol.st_name).starts_with("PyInit_")) file.python_module = true;
    }
  }

  ElfBytes bytes_;
  Elf64_Ehdr header_{};
};

}  // namespace

bool is_elf(std::string_view bytes) { return bytes.starts_with(ELFMAG); }

Result<ElfFile> parse_elf(std::string_view bytes, std::string_view where) {
  if (bytes.size() < sizeof(Elf64_Ehdr) || !is_elf(bytes)) {
    return fail(ErrorKind::malformed, fmt::format("{}: is no ELF file", where));
  }
  if (bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: only 64-bit little-endian ELF files are known here", where));
  }
  ElfFile file;
  if (!ElfReader(bytes).read(file)) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: the ELF file points outside of itself", where));
  }
  return file;
}

}  // namespace axle::elf
