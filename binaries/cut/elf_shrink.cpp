#include "binaries/cut/elf_shrink.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace axle::binaries {
namespace {

/// A section and the bytes behind what stays of it: [keep_end, end) are free, and `left_out` of
/// them, whole pages before `end`, are not written.
struct Hole {
  const SectionToCut* cut;
  std::uint64_t begin;     ///< of the section, in the old file
  std::uint64_t keep_end;  ///< of what stays, the program headers included
  std::uint64_t end;       ///< of the section
  std::uint64_t left_out = 0;
};

std::uint64_t aligned(std::uint64_t number, std::uint64_t alignment) {
  return (number + alignment - 1) / alignment * alignment;
}

std::unexpected<Error> unusual(std::string_view problem) {
  return fail(ErrorKind::unsupported, fmt::format("its layout cannot be changed: {}", problem));
}

class Shrink {
 public:
  Shrink(const ElfImage& image, std::span<const SectionToCut> cuts, const Patches& patches)
      : image_(image), cuts_(cuts), patches_(patches) {}

  Result<std::string> run() {
    for (const auto step : {&Shrink::find_page, &Shrink::find_holes, &Shrink::make_segments,
                            &Shrink::make_sections}) {
      if (auto done = (this->*step)(); !done) return std::unexpected(std::move(done).error());
    }
    return write();
  }

 private:
  /// The largest page of the architecture's systems: file and memory agree modulo it.
  Result<void> find_page() {
    if (image_.header.e_machine == EM_X86_64) {
      page_ = 4096;
    } else if (image_.header.e_machine == EM_AARCH64) {
      page_ = 65536;
    } else {
      return unusual("its architecture is unknown");
    }
    return {};
  }

  [[nodiscard]] bool overlap(std::uint64_t begin, std::uint64_t size, const Hole& hole) const {
    return begin < hole.end && hole.begin < begin + size;
  }

  /// The segment that loads the section, which must be the only one.
  Result<const Elf64_Phdr*> loading(const Hole& hole, std::uint64_t address) const {
    const Elf64_Phdr* found = nullptr;
    for (const Elf64_Phdr& segment : image_.segments) {
      if (segment.p_type != PT_LOAD || !overlap(segment.p_offset, segment.p_filesz, hole)) continue;
      const bool whole = segment.p_offset <= hole.begin &&
                         hole.end <= segment.p_offset + segment.p_filesz &&
                         address - segment.p_vaddr == hole.begin - segment.p_offset;
      if (!whole || found != nullptr) return unusual("its segments overlap");
      found = &segment;
    }
    if (found == nullptr) return unusual("GPU code is in no segment");
    return found;
  }

  Result<void> find_holes() {
    std::size_t splits = 0;
    for (const SectionToCut& one : cuts_) {
      const Elf64_Shdr& section = image_.sections[one.index];
      Hole hole{&one, section.sh_offset, section.sh_offset + one.cut.content.size(),
                section.sh_offset + section.sh_size};
      const auto segment = loading(hole, section.sh_addr);
      if (!segment) return std::unexpected(segment.error());
      const bool last = hole.end == (*segment)->p_offset + (*segment)->p_filesz;
      if (last && (*segment)->p_memsz != (*segment)->p_filesz)
        return unusual("zeros follow on GPU code in its segment");
      if (!last) ++splits;
      if (hole.keep_end > hole.end || (!holes_.empty() && hole.begin < holes_.back().end))
        return unusual("its sections overlap");
      holes_.push_back(hole);
    }
    reserve_headers(splits);
    for (Hole& hole : holes_) {
      if (hole.keep_end < hole.end) hole.left_out = (hole.end - hole.keep_end) / page_ * page_;
    }
    std::erase_if(holes_, [](const Hole& hole) { return hole.left_out == 0; });
    return check_headers();
  }

  /// Room for the longer program header table, behind what stays of the first section.
  void reserve_headers(std::size_t splits) {
    if (splits == 0) return;
    constexpr std::uint64_t alignment = 8;
    for (Hole& hole : holes_) {
      const std::uint64_t begin = aligned(hole.keep_end, alignment);
      const std::uint64_t end = begin + (image_.segments.size() + splits) * sizeof(Elf64_Phdr);
      if (end > hole.end || hole.end - end < page_) continue;
      headers_at_ = begin;
      hole.keep_end = end;
      return;
    }
    // Nothing is that large: no page can be left out either.
    for (Hole& hole : holes_) hole.keep_end = hole.end;
  }

  /// Kernels before 5.18 and loaders expect the program headers of a program at the same distance
  /// from its beginning in memory as in the file.
  Result<void> check_headers() const {
    const auto is = [&](Elf64_Word type) {
      return std::ranges::find(image_.segments, type, &Elf64_Phdr::p_type) != image_.segments.end();
    };
    const bool program = is(PT_INTERP) || is(PT_PHDR) || image_.header.e_type == ET_EXEC;
    if (!headers_at_ || !program) return {};
    const auto first = std::ranges::find(image_.segments, Elf64_Word{PT_LOAD}, &Elf64_Phdr::p_type);
    const std::uint64_t distance = first->p_vaddr - first->p_offset;
    if (headers_at_ != shifted(*headers_at_) || address_of(*headers_at_) - *headers_at_ != distance)
      return unusual("it is a program whose program headers cannot move");
    return {};
  }

  /// Where a byte of the old file that stays is in the new one.
  [[nodiscard]] std::uint64_t shifted(std::uint64_t offset) const {
    std::uint64_t by = 0;
    for (const Hole& hole : holes_) {
      if (offset >= hole.end) by += hole.left_out;
    }
    return offset - by;
  }

  [[nodiscard]] std::uint64_t address_of(std::uint64_t offset) const {
    for (const Elf64_Phdr& segment : image_.segments) {
      if (segment.p_type == PT_LOAD && offset >= segment.p_offset &&
          offset - segment.p_offset < segment.p_filesz)
        return segment.p_vaddr + (offset - segment.p_offset);
    }
    return 0;
  }

  void move(Elf64_Phdr& segment) const {
    segment.p_offset = shifted(segment.p_offset);
    const bool lies =
        segment.p_align <= 1 || (segment.p_offset - segment.p_vaddr) % segment.p_align == 0;
    if (segment.p_type == PT_LOAD && !lies) segment.p_align = page_;
  }

  /// The parts of a segment before, between and behind the holes in it.
  void split(Elf64_Phdr rest) {
    for (const Hole& hole : holes_) {
      if (!overlap(rest.p_offset, rest.p_filesz, hole)) continue;
      Elf64_Phdr part = rest;
      part.p_filesz = part.p_memsz = hole.keep_end - rest.p_offset;
      move(part);
      segments_.push_back(part);
      const std::uint64_t by = hole.end - rest.p_offset;
      rest.p_offset += by;
      rest.p_vaddr += by;
      rest.p_paddr += by;
      rest.p_filesz -= by;
      rest.p_memsz -= by;
      if (rest.p_filesz == 0) return;
    }
    move(rest);
    segments_.push_back(rest);
  }

  Result<void> make_segments() {
    for (const Elf64_Phdr& segment : image_.segments) {
      if (segment.p_type == PT_LOAD) {
        split(segment);
        continue;
      }
      const bool cut = std::ranges::any_of(holes_, [&](const Hole& hole) {
        return segment.p_filesz != 0 && overlap(segment.p_offset, segment.p_filesz, hole);
      });
      if (cut) return unusual("another segment has GPU code, too");
      segments_.push_back(segment);
      move(segments_.back());
    }
    if (segments_.size() == image_.segments.size()) headers_at_.reset();
    if (!headers_at_) return {};
    for (Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_PHDR) continue;
      segment.p_offset = shifted(*headers_at_);
      segment.p_vaddr = segment.p_paddr = address_of(*headers_at_);
      segment.p_filesz = segment.p_memsz = segments_.size() * sizeof(Elf64_Phdr);
    }
    return {};
  }

  Result<void> make_sections() {
    sections_ = image_.sections;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      Elf64_Shdr& section = sections_[i];
      const auto own = std::ranges::find(cuts_, i, &SectionToCut::index);
      const bool bytes = section.sh_type != SHT_NOBITS && section.sh_size != 0;
      if (own != cuts_.end()) {
        section.sh_size = own->cut.content.size();
      } else if (bytes && std::ranges::any_of(holes_, [&](const Hole& hole) {
                   return overlap(section.sh_offset, section.sh_size, hole);
                 })) {
        return unusual("its sections overlap");
      }
      section.sh_offset = shifted(section.sh_offset);
    }
    return check_written();
  }

  /// Nothing is written into the sections that are cut, but for the new program headers.
  [[nodiscard]] Result<void> check_written() const {
    const auto free = [&](std::uint64_t begin, std::uint64_t size) {
      return std::ranges::none_of(cuts_, [&](const SectionToCut& one) {
        const Elf64_Shdr& section = image_.sections[one.index];
        return begin < section.sh_offset + section.sh_size && section.sh_offset < begin + size;
      });
    };
    const bool whole =
        free(0, sizeof(Elf64_Ehdr)) &&
        free(image_.header.e_shoff, sections_.size() * sizeof(Elf64_Shdr)) &&
        (headers_at_ || free(image_.header.e_phoff, segments_.size() * sizeof(Elf64_Phdr))) &&
        std::ranges::all_of(
            patches_, [&](const auto& patch) { return free(patch.first, sizeof(std::uint64_t)); });
    if (!whole) return unusual("its tables overlap with GPU code");
    return {};
  }

  /// The old file without the holes.
  [[nodiscard]] std::string copy() const {
    std::uint64_t left_out = 0;
    for (const Hole& hole : holes_) left_out += hole.left_out;
    std::string bytes;
    bytes.reserve(image_.file.size() - left_out);
    std::uint64_t at = 0;
    for (const SectionToCut& one : cuts_) {
      const Elf64_Shdr& section = image_.sections[one.index];
      const auto hole = std::ranges::find(holes_, &one, &Hole::cut);
      const std::uint64_t end = section.sh_offset + section.sh_size;
      bytes += image_.file.substr(at, section.sh_offset - at);
      bytes += one.cut.content;
      bytes.resize(bytes.size() + (section.sh_size - one.cut.content.size()) -
                   (hole == holes_.end() ? 0 : hole->left_out));
      at = end;
    }
    bytes += image_.file.substr(at);
    return bytes;
  }

  template <class Record>
  static void put(std::string& bytes, std::uint64_t at, const Record& record) {
    std::memcpy(bytes.data() + at, &record, sizeof(record));
  }

  [[nodiscard]] Result<std::string> write() const {
    std::string bytes = copy();
    for (const auto& [offset, value] : patches_) put(bytes, shifted(offset), value);
    Elf64_Ehdr header = image_.header;
    header.e_shoff = shifted(header.e_shoff);
    if (headers_at_) header.e_phoff = shifted(*headers_at_);
    header.e_phnum = static_cast<Elf64_Half>(segments_.size());
    put(bytes, 0, header);
    for (std::size_t i = 0; i < segments_.size(); ++i)
      put(bytes, header.e_phoff + i * sizeof(Elf64_Phdr), segments_[i]);
    for (std::size_t i = 0; i < sections_.size(); ++i)
      put(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), sections_[i]);
    return bytes;
  }

  const ElfImage& image_;
  std::span<const SectionToCut> cuts_;
  const Patches& patches_;
  std::uint64_t page_ = 0;
  std::vector<Hole> holes_;  ///< with pages that are left out, in the order of the file
  std::optional<std::uint64_t> headers_at_;  ///< in the old file; the old table suffices: unset
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace

Result<std::string> shrink_elf(const ElfImage& image, std::span<const SectionToCut> cuts,
                               const Patches& patches) {
  return Shrink(image, cuts, patches).run();
}

}  // namespace axle::binaries
