#include "foundation/elf/elf_symbols.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <elf.h>

namespace axle::elf {
namespace {

constexpr std::size_t most_versions = 4096;
/// Names in a string table may overlap, in a file that is meant to be slow even all of them.
constexpr std::uint64_t most_overlap = 8;
constexpr std::uint64_t fewest_name_bytes = 1U << 16;

template <class Record>
std::expected<Record, ReadError> read_record(Bytes& bytes, std::uint64_t offset) {
  const auto range = bytes.range(offset, sizeof(Record));
  if (!range) return std::unexpected(range.error());
  return records<Record>(*range).front();
}

/// A definition's own name; those after it are of the versions that it goes on from.
std::expected<std::string, ReadError> read_defined_name(Bytes& bytes, std::uint64_t at,
                                                        const Dynamic& dynamic) {
  const auto name = read_record<Elf64_Verdaux>(bytes, at);
  if (!name) return std::unexpected(name.error());
  auto text = dynamic.name_at(name->vda_name);
  if (!text) return std::unexpected(ReadError::outside);
  return *std::move(text);
}

/// The versions of one library: a list of relative offsets.
std::expected<void, ReadError> read_versions(Bytes& bytes, std::uint64_t at,
                                             const Elf64_Verneed& need, const Dynamic& dynamic,
                                             std::vector<VersionNeed>& needs) {
  const auto library = dynamic.name_at(need.vn_file);
  if (!library) return std::unexpected(ReadError::outside);
  at += need.vn_aux;
  for (unsigned i = 0; i < need.vn_cnt; ++i) {
    const auto version = read_record<Elf64_Vernaux>(bytes, at);
    if (!version) return std::unexpected(version.error());
    auto name = dynamic.name_at(version->vna_name);
    if (!name || needs.size() == most_versions) return std::unexpected(ReadError::outside);
    needs.push_back(
        {*library, *std::move(name), (version->vna_flags & VER_FLG_WEAK) != 0, version->vna_other});
    if (version->vna_next == 0) break;
    at += version->vna_next;
  }
  return {};
}

/// The first section of that type; a second one would not be the loader's.
const Section* section_of_type(const Tables& tables, std::uint32_t type) {
  const auto found = std::ranges::find_if(
      tables.sections, [&](const Section& one) { return one.type == type && one.size != 0; });
  return found == tables.sections.end() ? nullptr : &*found;
}

/// The version of each dynamic symbol, by its place.
std::expected<std::vector<std::uint16_t>, ReadError> read_symbol_versions(Bytes& bytes,
                                                                          const Tables& tables) {
  const Section* section = section_of_type(tables, SHT_GNU_versym);
  if (section == nullptr) return std::vector<std::uint16_t>();
  const auto table = bytes.range(section->offset, section->size);
  if (!table) return std::unexpected(table.error());
  return records<std::uint16_t>(*table);
}

}  // namespace

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
    if (!need || i == most_versions) return std::unexpected(ReadError::outside);
    if (auto done = read_versions(bytes, at, *need, dynamic, needs); !done)
      return std::unexpected(done.error());
    if (need->vn_next == 0) break;
    at += need->vn_next;
  }
  return needs;
}

std::expected<std::vector<std::string>, ReadError> read_version_definitions(
    Bytes& bytes, const Tables& tables, const Dynamic& dynamic) {
  std::vector<std::string> names;
  const auto address = dynamic.value(DT_VERDEF);
  if (!address) return names;
  const auto place = in_file(tables, *address);
  if (!place) return std::unexpected(ReadError::outside);
  std::uint64_t at = place->offset;
  const std::uint64_t count = dynamic.value(DT_VERDEFNUM).value_or(0);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto definition = read_record<Elf64_Verdef>(bytes, at);
    if (!definition || i == most_versions) return std::unexpected(ReadError::outside);
    if (definition->vd_cnt != 0) {
      auto name = read_defined_name(bytes, at + definition->vd_aux, dynamic);
      if (!name) return std::unexpected(name.error());
      names.push_back(*std::move(name));
    }
    if (definition->vd_next == 0) break;
    at += definition->vd_next;
  }
  return names;
}

std::expected<void, ReadError> visit_dynamic_symbols(
    Bytes& bytes, const Tables& tables, const std::function<void(const DynamicSymbol&)>& visit) {
  constexpr std::uint16_t first_version = 2;  // 0 is local, 1 global without a version
  constexpr std::uint16_t version_mask = 0x7fff;
  const Section* section = section_of_type(tables, SHT_DYNSYM);
  if (section == nullptr) return {};
  if (section->link >= tables.sections.size()) return std::unexpected(ReadError::outside);
  const auto version_of = read_symbol_versions(bytes, tables);
  if (!version_of) return std::unexpected(version_of.error());
  const Section& names = tables.sections[section->link];
  const auto strings = bytes.range(names.offset, names.size);
  if (!strings) return std::unexpected(strings.error());
  const auto symbols = bytes.range(section->offset, section->size);
  if (!symbols) return std::unexpected(symbols.error());
  std::uint64_t left = std::max<std::uint64_t>(strings->size() * most_overlap, fewest_name_bytes);
  std::size_t index = 0;
  for (const Elf64_Sym& symbol : records<Elf64_Sym>(*symbols)) {
    const std::size_t place = index++;
    const auto binding = ELF64_ST_BIND(symbol.st_info);
    const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    DynamicSymbol found;
    found.name = string_at(*strings, symbol.st_name, strings->size());
    if (found.name.size() > left) return std::unexpected(ReadError::outside);
    left -= found.name.size();
    found.defined = symbol.st_shndx != SHN_UNDEF;
    found.weak = binding == STB_WEAK;
    if (place < version_of->size()) found.version = (*version_of)[place] & version_mask;
    if (found.version < first_version) found.version = 0;
    const bool for_others = binding != STB_LOCAL && visibility != STV_HIDDEN;
    if (!found.name.empty() && for_others) visit(found);
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
