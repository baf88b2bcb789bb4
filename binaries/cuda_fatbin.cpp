#include "binaries/cuda_fatbin.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "binaries/elf_source.h"
#include "binaries/fatbin_format.h"
#include "binaries/part_source.h"
#include "foundation/elf/elf_tables.h"

namespace axle::binaries {
namespace {

using fatbin::alignment;
using fatbin::code_of;
using fatbin::EntryHeader;
using fatbin::Header;
using fatbin::longest_gap;
using fatbin::magic;

constexpr std::uint64_t flag_lz4 = 0x2000;
constexpr std::uint64_t flag_zstd = 0x8000;
constexpr std::uint64_t flag_arch_specific = 0x100000;
constexpr std::uint64_t flag_family_specific = 0x200000;

CudaCodeKind kind_of(std::uint16_t kind) {
  switch (kind) {
    case 1:
      return CudaCodeKind::ptx;
    case 2:
      return CudaCodeKind::cubin;
    case 8:
      return CudaCodeKind::ltoir;
    default:
      return CudaCodeKind::other;
  }
}

/// Iterates over a section.
class FatbinWalk {
 public:
  FatbinWalk(wheel::ByteSource& source, std::uint64_t offset, std::uint64_t size,
             const FatbinLimits& limits)
      : source_(source), at_(offset), end_(offset + size), limits_(limits) {
    align();
  }

  Result<CudaFatbins> run() {
    while (found_.stopped.empty()) {
      auto next = find_next();
      if (!next) return std::unexpected(std::move(next).error());
      if (!*next) break;
      auto done = read_fatbin();
      if (!done) return std::unexpected(std::move(done).error());
    }
    return std::move(found_);
  }

 private:
  template <class Record>
  Result<Record> read(std::uint64_t at) {
    Record record{};
    auto done = source_.read(at, std::as_writable_bytes(std::span(&record, 1)));
    if (!done) return std::unexpected(std::move(done).error());
    return record;
  }

  [[nodiscard]] std::uint64_t left(std::uint64_t at) const { return end_ - at; }

  /// Moves to the next header. False: there is none.
  Result<bool> find_next() {
    if (left(at_) < sizeof(Header)) return false;
    auto header = read<std::uint32_t>(at_);
    if (!header) return std::unexpected(std::move(header).error());
    if (*header == magic) return true;
    const std::uint64_t size = std::min(left(at_), longest_gap);
    std::string gap(size, '\0');
    auto done = source_.read(at_, std::as_writable_bytes(std::span(gap.data(), gap.size())));
    if (!done) return std::unexpected(std::move(done).error());
    for (std::uint64_t i = 0; i + sizeof(Header) <= size; i += alignment) {
      std::uint32_t word = 0;
      std::memcpy(&word, gap.data() + i, sizeof(word));
      if (word != magic) continue;
      at_ += i;
      return true;
    }
    const bool padding = gap.find_first_not_of('\0') == std::string::npos;
    if (!padding || left(at_) > size) found_.stopped = "bytes that are not a fatbin follow";
    return false;
  }

  Result<void> read_fatbin() {
    auto header = read<Header>(at_);
    if (!header) return std::unexpected(std::move(header).error());
    const bool sound = header->header_size >= sizeof(Header) && header->header_size <= left(at_) &&
                       header->size <= left(at_) - header->header_size;
    if (!sound) {
      found_.stopped = "a fatbin is longer than its section";
      return {};
    }
    const std::uint64_t end = at_ + header->header_size + header->size;
    auto codes = read_entries(at_ + header->header_size, end);
    if (!codes) return std::unexpected(std::move(codes).error());
    if (*codes) {
      ++found_.fatbins;
      add_group(std::move(**codes));
    }
    at_ = end;
    align();
    return {};
  }

  void align() { at_ = std::min(end_, at_ + (alignment - at_ % alignment) % alignment); }

  /// Nothing of a fatbin whose code objects are all without functions: it is for no GPU.
  Result<std::optional<std::vector<CudaCode>>> read_entries(std::uint64_t at, std::uint64_t end) {
    std::vector<CudaCode> codes;
    bool some = false;
    while (end - at >= sizeof(EntryHeader)) {
      if (++entries_ > limits_.entries) {
        found_.stopped = fmt::format("only the first {} code objects are read", limits_.entries);
        break;
      }
      auto entry = read<EntryHeader>(at);
      if (!entry) return std::unexpected(std::move(entry).error());
      const bool sound = entry->header_size >= sizeof(EntryHeader) &&
                         entry->header_size <= end - at &&
                         entry->size <= end - at - entry->header_size;
      if (!sound) {
        found_.stopped = "a code object is longer than its fatbin";
        break;
      }
      some = true;
      if (!fatbin::is_without_functions(*entry, source_, at + entry->header_size))
        codes.push_back(code_of(*entry));
      at += entry->header_size + entry->size;
    }
    std::ranges::sort(codes);
    codes.erase(std::ranges::unique(codes).begin(), codes.end());
    if (some && codes.empty()) return std::nullopt;
    return codes;
  }

  void add_group(std::vector<CudaCode> codes) {
    const auto known = std::ranges::find(found_.groups, codes, &CudaGroup::codes);
    if (known != found_.groups.end()) {
      ++known->fatbins;
    } else if (found_.groups.size() < limits_.groups) {
      found_.groups.push_back({std::move(codes), 1});
    } else {
      found_.stopped =
          fmt::format("only the first {} kinds of fatbins are distinguished", limits_.groups);
    }
  }

  wheel::ByteSource& source_;
  std::uint64_t at_;
  std::uint64_t end_;
  FatbinLimits limits_;
  std::size_t entries_ = 0;
  CudaFatbins found_;
};

}  // namespace

CudaCode fatbin::code_of(const EntryHeader& entry) {
  CudaCode code;
  code.kind = kind_of(entry.kind);
  code.architecture = entry.architecture;
  code.target = (entry.flags & flag_arch_specific) != 0     ? 'a'
                : (entry.flags & flag_family_specific) != 0 ? 'f'
                                                            : '\0';
  code.major = entry.major;
  code.minor = entry.minor;
  code.packing = (entry.flags & flag_zstd) != 0  ? CudaPacking::zstd
                 : (entry.flags & flag_lz4) != 0 ? CudaPacking::lz4
                                                 : CudaPacking::none;
  return code;
}

bool fatbin::is_without_functions(const EntryHeader& entry, wheel::ByteSource& source,
                                  std::uint64_t payload) {
  const CudaCode code = code_of(entry);
  if (code.kind != CudaCodeKind::cubin || code.packing != CudaPacking::none) return false;
  PartSource part(source, payload, entry.size);
  ElfSource bytes(part);
  const auto tables = elf::read_tables(bytes);
  return tables && !tables->sections.empty() &&
         std::ranges::none_of(tables->sections, [](const elf::Section& section) {
           return section.name.starts_with(".text");
         });
}

void add_fatbins(CudaFatbins& all, CudaFatbins more) {
  for (CudaGroup& group : more.groups) {
    const auto known = std::ranges::find(all.groups, group.codes, &CudaGroup::codes);
    if (known == all.groups.end()) {
      all.groups.push_back(std::move(group));
    } else {
      known->fatbins += group.fatbins;
    }
  }
  all.fatbins += more.fatbins;
  if (all.stopped.empty()) all.stopped = std::move(more.stopped);
}

Result<CudaFatbins> read_cuda_fatbins(wheel::ByteSource& source, std::uint64_t offset,
                                      std::uint64_t size, const FatbinLimits& limits) {
  if (offset > source.size() || source.size() - offset < size)
    return fail(ErrorKind::malformed, "the section of the fatbins extends beyond the file");
  return FatbinWalk(source, offset, size, limits).run();
}

std::string render_cuda_code(const CudaCode& code) {
  constexpr std::array<std::string_view, 4> words = {"sm", "compute", "lto", "code"};
  std::string text =
      fmt::format("{}_{}", words[static_cast<std::size_t>(code.kind)], code.architecture);
  if (code.target != 0) text += code.target;
  return text;
}

}  // namespace axle::binaries
