#include "foundation/elf/elf_dynamic.h"

#include <algorithm>

#include <elf.h>

namespace axle::elf {
namespace {

constexpr std::uint64_t largest_dynamic = 1U << 20;  // bytes
constexpr std::size_t most_names = 4096;
constexpr std::size_t longest_name = 4096;
constexpr std::size_t most_version_needs = 1U << 16;

/// The offset in the file of a part of the loaded library.
struct FileRange {
  std::uint64_t offset;
  std::uint64_t size;  ///< up to the segment's end
};

std::optional<FileRange> in_file(const Tables& tables, std::uint64_t address) {
  const auto segment = std::ranges::find_if(tables.segments, [&](const Segment& one) {
    return one.type == PT_LOAD && address >= one.address && address - one.address < one.size;
  });
  if (segment == tables.segments.end()) return std::nullopt;
  const std::uint64_t inside = address - segment->address;
  return FileRange{segment->offset + inside, segment->size - inside};
}

/// The text at `offset`; nullopt if it does not end in the table, is too long or is not a name.
std::optional<std::string> whole_name(std::string_view strings, std::uint64_t offset) {
  const std::string_view name = string_at(strings, offset, longest_name);
  const bool ends = offset < strings.size() && name.size() < strings.size() - offset &&
                    strings[offset + name.size()] == '\0';
  const bool printable =
      std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!ends || !printable) return std::nullopt;
  return std::string(name);
}

template <class Record>
std::expected<Record, ReadError> read_record(Bytes& bytes, std::uint64_t offset) {
  const auto range = bytes.range(offset, sizeof(Record));
  if (!range) return std::unexpected(range.error());
  return records<Record>(*range).front();
}

/// The versions of one library: a list of relative offsets.
std::expected<void, ReadError> read_versions(Bytes& bytes, std::uint64_t at,
                                             const Elf64_Verneed& need, std::string_view strings,
                                             std::vector<VersionNeed>& needs) {
  const auto library = whole_name(strings, need.vn_file);
  if (!library) return std::unexpected(ReadError::outside);
  at += need.vn_aux;
  for (unsigned i = 0; i < need.vn_cnt; ++i) {
    const auto version = read_record<Elf64_Vernaux>(bytes, at);
    if (!version) return std::unexpected(version.error());
    auto name = whole_name(strings, version->vna_name);
    if (!name || needs.size() == most_version_needs) return std::unexpected(ReadError::outside);
    needs.push_back({*library, std::move(*name)});
    if (version->vna_next == 0) break;
    at += version->vna_next;
  }
  return {};
}

}  // namespace

std::vector<std::string> Dynamic::names(std::int64_t tag) const {
  std::vector<std::string> names;
  for (const TaggedValue& entry : entries_) {
    if (entry.tag != tag || entry.value >= strings_.size() || names.size() == most_names) continue;
    names.emplace_back(string_at(strings_, entry.value, longest_name));
  }
  return names;
}

std::optional<std::uint64_t> Dynamic::value(std::int64_t tag) const {
  std::optional<std::uint64_t> value;
  for (const TaggedValue& entry : entries_) {
    if (entry.tag == tag) value = entry.value;
  }
  return value;
}

bool Dynamic::whole() const {
  std::size_t count = 0;
  return missing_ == Missing::nothing &&
         std::ranges::all_of(entries_, [&](const TaggedValue& entry) {
           if (entry.tag != DT_NEEDED && entry.tag != DT_SONAME) return true;
           return ++count <= most_names && whole_name(strings_, entry.value).has_value();
         });
}

std::expected<Dynamic, ReadError> read_dynamic(Bytes& bytes, const Tables& tables) {
  Dynamic dynamic;
  const Segment* segment = tables.segment(PT_DYNAMIC);
  if (segment == nullptr) return dynamic;
  if (segment->size > largest_dynamic) {
    dynamic.missing_ = Dynamic::Missing::entries;
    return dynamic;
  }
  const auto range = bytes.range(segment->offset, segment->size);
  if (!range) return std::unexpected(range.error());
  for (const Elf64_Dyn& entry : records<Elf64_Dyn>(*range)) {
    if (entry.d_tag == DT_NULL) break;
    dynamic.entries_.push_back({entry.d_tag, entry.d_un.d_val});
  }
  if (dynamic.entries_.empty()) return dynamic;
  const auto names = in_file(tables, dynamic.value(DT_STRTAB).value_or(0));
  const std::uint64_t size = dynamic.value(DT_STRSZ).value_or(0);
  if (!names || size > bytes.largest_range()) {
    dynamic.missing_ = Dynamic::Missing::names;
    return dynamic;
  }
  auto strings = bytes.range(names->offset, std::min(size, names->size));
  if (!strings) return std::unexpected(strings.error());
  dynamic.strings_ = std::move(*strings);
  return dynamic;
}

// A list of relative offsets; DT_VERNEEDNUM counts it.
std::expected<std::vector<VersionNeed>, ReadError> read_version_needs(Bytes& bytes,
                                                                      const Tables& tables,
                                                                      const Dynamic& dynamic) {
  std::vector<VersionNeed> needs;
  const auto address = dynamic.value(DT_VERNEED);
  if (!address) return needs;
  const auto place = in_file(tables, *address);
  if (!place) return std::unexpected(ReadError::outside);
  std::uint64_t at = place->offset;
  const std::uint64_t count = dynamic.value(DT_VERNEEDNUM).value_or(0);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto need = read_record<Elf64_Verneed>(bytes, at);
    if (!need || i == most_version_needs) return std::unexpected(ReadError::outside);
    if (auto done = read_versions(bytes, at, *need, dynamic.strings(), needs); !done)
      return std::unexpected(done.error());
    if (need->vn_next == 0) break;
    at += need->vn_next;
  }
  return needs;
}

std::expected<void, ReadError> visit_dynamic_symbols(
    Bytes& bytes, const Tables& tables, const std::function<void(const DynamicSymbol&)>& visit) {
  constexpr std::uint16_t first_version = 2;  // 0 is local, 1 global without a version
  constexpr std::uint16_t version_mask = 0x7fff;
  std::string versions;
  for (const Section& section : tables.sections) {
    if (section.type != SHT_GNU_versym || section.size == 0) continue;
    auto table = bytes.range(section.offset, section.size);
    if (!table) return std::unexpected(table.error());
    versions = std::move(*table);
  }
  const std::vector<std::uint16_t> version_of = records<std::uint16_t>(versions);
  for (const Section& section : tables.sections) {
    if (section.type != SHT_DYNSYM || section.size == 0) continue;
    if (section.link >= tables.sections.size()) return std::unexpected(ReadError::outside);
    const Section& names = tables.sections[section.link];
    const auto strings = bytes.range(names.offset, names.size);
    if (!strings) return std::unexpected(strings.error());
    const auto symbols = bytes.range(section.offset, section.size);
    if (!symbols) return std::unexpected(symbols.error());
    std::size_t index = 0;
    for (const Elf64_Sym& symbol : records<Elf64_Sym>(*symbols)) {
      const std::size_t place = index++;
      const auto binding = ELF64_ST_BIND(symbol.st_info);
      const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
      DynamicSymbol found;
      found.name = string_at(*strings, symbol.st_name, strings->size());
      found.defined = symbol.st_shndx != SHN_UNDEF;
      found.weak = binding == STB_WEAK;
      found.versioned =
          place < version_of.size() && (version_of[place] & version_mask) >= first_version;
      const bool for_others = binding != STB_LOCAL && visibility != STV_HIDDEN;
      if (!found.name.empty() && for_others) visit(found);
    }
  }
  return {};
}

std::expected<bool, ReadError> defines_symbol(Bytes& bytes, const Tables& tables,
                                              std::string_view prefix) {
  bool defines = false;
  const auto read = visit_dynamic_symbols(bytes, tables, [&](const DynamicSymbol& symbol) {
    defines = defines || (symbol.defined && symbol.name.starts_with(prefix));
  });
  if (!read) return std::unexpected(read.error());
  return defines;
}

}  // namespace axle::elf
