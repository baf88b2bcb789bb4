#include "foundation/elf/elf_dynamic.h"

#include <algorithm>

#include <elf.h>

namespace axle::elf {
namespace {

constexpr std::uint64_t largest_dynamic = 1U << 20;  // bytes
constexpr std::size_t most_names = 4096;
constexpr std::size_t longest_name = 4096;

}  // namespace

std::optional<FileRange> in_file(const Tables& tables, std::uint64_t address) {
  const auto segment = std::ranges::find_if(tables.segments, [&](const Segment& one) {
    return one.type == PT_LOAD && address >= one.address && address - one.address < one.size;
  });
  if (segment == tables.segments.end()) return std::nullopt;
  const std::uint64_t inside = address - segment->address;
  return FileRange{segment->offset + inside, segment->size - inside};
}

std::optional<std::string> Dynamic::name_at(std::uint64_t offset) const {
  const std::string_view name = string_at(strings_, offset, longest_name);
  const bool ends = offset < strings_.size() && name.size() < strings_.size() - offset &&
                    strings_[offset + name.size()] == '\0';
  const bool printable =
      std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!ends || !printable) return std::nullopt;
  return std::string(name);
}

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
           return ++count <= most_names && name_at(entry.value).has_value();
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

}  // namespace axle::elf
