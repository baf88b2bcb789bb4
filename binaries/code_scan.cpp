#include "binaries/code_scan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>
#include <fmt/format.h>

#include "binaries/arm_instructions.h"
#include "binaries/elf_source.h"
#include "binaries/x86_instructions.h"
#include "foundation/elf/elf_tables.h"
#include "foundation/system/parallel.h"

namespace axle::binaries {
namespace {

using detect::Capability;

constexpr std::size_t block = 64;             ///< instructions that are judged together
constexpr std::size_t lead = 256;             ///< bytes before a piece, to be in step at its start
constexpr std::size_t piece_size = 16 << 20;  ///< bytes
constexpr std::uint64_t nowhere = ~std::uint64_t{0};
constexpr std::uint64_t largest_symbols = 256U << 20;  ///< bytes

/// What one piece of code contains.
struct Tally {
  std::array<std::uint64_t, detect::capability_count> counts{};
  std::array<std::uint64_t, detect::capability_count> first{};  ///< offsets in the file
  bool asks_cpu = false;

  Tally() { first.fill(nowhere); }
  void add(std::uint16_t capability, std::uint64_t offset) {
    if (++counts[capability] == 1) first[capability] = offset;
  }
  void add(const Tally& other) {
    asks_cpu = asks_cpu || other.asks_cpu;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] += other.counts[i];
      first[i] = std::min(first[i], other.first[i]);
    }
  }
};

/// A part of an executable section, as offsets in the file.
struct Piece {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t section_begin;
  std::uint64_t section_end;
};

Tally read_x86(std::string_view file, const Piece& piece) {
  Tally tally;
  std::array<std::pair<std::uint16_t, std::uint64_t>, block> found;
  std::size_t at = piece.begin - std::min<std::uint64_t>(lead, piece.begin - piece.section_begin);
  const std::string_view code = file.substr(0, piece.section_end);
  while (at < piece.end) {
    std::size_t hits = 0;
    bool valid = true;
    bool asks = false;
    for (std::size_t i = 0; i < block && at < piece.end; ++i) {
      const X86Instruction one = read_x86_instruction(code.substr(at));
      valid = valid && one.valid;
      if (at >= piece.begin) {
        asks = asks || one.asks_cpu;
        if (one.capability < detect::capability_count) found[hits++] = {one.capability, at};
      }
      at += one.length;
    }
    if (!valid) continue;
    tally.asks_cpu = tally.asks_cpu || asks;
    for (std::size_t i = 0; i < hits; ++i) tally.add(found[i].first, found[i].second);
  }
  return tally;
}

Tally read_arm(std::string_view file, const Piece& piece) {
  Tally tally;
  for (std::size_t at = (piece.begin + 3) / 4 * 4; at + 4 <= piece.end; at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, file.data() + at, sizeof(word));
    const ArmInstruction one = read_arm_instruction(word);
    tally.asks_cpu = tally.asks_cpu || one.asks_cpu;
    if (one.capability < detect::capability_count) tally.add(one.capability, at);
  }
  return tally;
}

/// The code by its places in the file; of a file without sections that of its segments.
std::vector<Piece> ranges_of(const elf::Tables& tables) {
  std::vector<Piece> ranges;
  for (const elf::Section& section : tables.sections) {
    if (section.type == SHT_PROGBITS && (section.flags & SHF_EXECINSTR) != 0 && section.size != 0)
      ranges.push_back({section.offset, section.offset + section.size, section.offset, 0});
  }
  if (!ranges.empty()) return ranges;
  for (const elf::Segment& segment : tables.segments) {
    if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0 && segment.size != 0)
      ranges.push_back({segment.offset, segment.offset + segment.size, segment.offset, 0});
  }
  return ranges;
}

/// The same in pieces that several threads can take. Every byte is in one of them, however often a
/// hostile file names it.
std::vector<Piece> pieces_of(const elf::Tables& tables) {
  std::vector<Piece> ranges = ranges_of(tables);
  std::ranges::sort(ranges, {}, &Piece::begin);
  std::vector<Piece> pieces;
  std::uint64_t done = 0;
  for (const Piece& range : ranges) {
    for (std::uint64_t at = std::max(range.begin, done); at < range.end; at += piece_size) {
      pieces.push_back({at, std::min<std::uint64_t>(at + piece_size, range.end),
                        std::max(range.begin, done), range.end});
    }
    done = std::max(done, range.end);
  }
  return pieces;
}

/// Where an offset in the file is, for people.
class Places {
 public:
  Places(elf::Bytes& bytes, const elf::Tables& tables) : bytes_(bytes), tables_(tables) {}

  [[nodiscard]] InstructionPlace at(std::uint64_t offset) {
    InstructionPlace place;
    for (const elf::Section& section : tables_.sections) {
      if (section.type != SHT_PROGBITS || offset < section.offset ||
          offset - section.offset >= section.size)
        continue;
      place.section = section.name;
      place.function = symbol_at(section.address + (offset - section.offset));
      break;
    }
    if (place.section.empty()) place.section = fmt::format("the code at {:#x}", offset);
    return place;
  }

 private:
  /// The nearest function at or before the address; empty: the file names none.
  [[nodiscard]] std::string symbol_at(std::uint64_t address) {
    if (!read_) read_symbols();
    const auto after = std::ranges::upper_bound(symbols_, address, {}, &Elf64_Sym::st_value);
    if (after == symbols_.begin()) return {};
    return std::string(elf::string_at(names_, std::prev(after)->st_name, longest_name));
  }

  void read_symbols() {
    read_ = true;
    const elf::Section* table = nullptr;
    for (const elf::Section& section : tables_.sections) {
      if (section.type == SHT_SYMTAB || (section.type == SHT_DYNSYM && table == nullptr))
        table = &section;
    }
    if (table == nullptr || table->link >= tables_.sections.size()) return;
    const elf::Section& names = tables_.sections[table->link];
    auto strings = bytes_.range(names.offset, names.size);
    const auto symbols = bytes_.range(table->offset, table->size);
    if (!strings || !symbols) return;
    names_ = std::move(*strings);
    symbols_ = elf::records<Elf64_Sym>(*symbols);
    std::erase_if(symbols_, [](const Elf64_Sym& symbol) {
      return ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value == 0;
    });
    std::ranges::sort(symbols_, {}, &Elf64_Sym::st_value);
  }

  static constexpr std::size_t longest_name = 4096;

  elf::Bytes& bytes_;
  const elf::Tables& tables_;
  bool read_ = false;
  std::string names_;
  std::vector<Elf64_Sym> symbols_;
};

/// Names are for what may become a finding: a table of symbols may have 100 megabytes.
InstructionScan finish(const Tally& all, Places& places) {
  InstructionScan scan;
  scan.asks_cpu = all.asks_cpu;
  scan.complete = true;
  for (std::size_t i = 0; i < all.counts.size(); ++i) {
    if (all.counts[i] == 0) continue;
    const auto capability = static_cast<Capability>(i);
    scan.counts[capability] = all.counts[i];
    if (!all.asks_cpu) scan.first[capability] = places.at(all.first[i]);
  }
  return scan;
}

}  // namespace

Result<InstructionScan> scan_code(std::string_view file, std::string_view where, unsigned threads) {
  const auto source = wheel::memory_source(file);
  ElfSource bytes(*source, largest_symbols);
  const auto tables = elf::read_tables(bytes);
  if (!tables) return std::unexpected(bytes.error(tables.error(), where));
  if (tables->machine != EM_X86_64 && tables->machine != EM_AARCH64)
    return fail(ErrorKind::unsupported,
                fmt::format("{}: code for machine {} cannot be read", where, tables->machine));
  const std::vector<Piece> pieces = pieces_of(*tables);
  std::vector<Tally> tallies(pieces.size());
  system::for_each_at_once(pieces.size(), threads, [&](std::size_t i) {
    tallies[i] =
        tables->machine == EM_X86_64 ? read_x86(file, pieces[i]) : read_arm(file, pieces[i]);
  });
  Tally all;
  for (const Tally& one : tallies) all.add(one);
  Places places(bytes, *tables);
  return finish(all, places);
}

}  // namespace axle::binaries
