#include "binaries/offload_bundle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "binaries/zstd_unpack.h"

namespace axle::binaries {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie");

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
constexpr std::uint64_t bundle_alignment = 8;
/// Bundles in one section begin at pages.
constexpr std::uint64_t longest_bundle_gap = 2 * 4096;
/// A table has about 60 bytes per entry.
constexpr std::uint64_t largest_table = 64U << 10;
constexpr std::uint64_t most_entries = 1024;
constexpr std::uint64_t longest_id = 256;
/// A zstd block has at most 128 KiB compressed.
constexpr std::uint64_t most_packed = 160U << 10;
constexpr std::uint16_t method_zstd = 1;  // llvm::compression::Format

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number number{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof(Number))
    std::memcpy(&number, bytes.data() + at, sizeof(Number));
  return number;
}

/// The content of the table at the beginning of a bundle.
struct Table {
  std::vector<BundleEntry> entries;
  std::uint64_t end = 0;  ///< of the last code object, from the bundle's beginning
};

std::optional<Table> parse_table(std::string_view bytes) {
  Table table;
  std::size_t at = plain_magic.size();
  const auto count = number_at<std::uint64_t>(bytes, at);
  at += sizeof(count);
  if (bytes.size() < at || count > most_entries) return std::nullopt;
  for (std::uint64_t i = 0; i < count; ++i) {
    constexpr std::size_t numbers = 3 * sizeof(std::uint64_t);
    if (bytes.size() - at < numbers) return std::nullopt;
    const auto offset = number_at<std::uint64_t>(bytes, at);
    const auto size = number_at<std::uint64_t>(bytes, at + 8);
    const auto length = number_at<std::uint64_t>(bytes, at + 16);
    at += numbers;
    if (length > longest_id || bytes.size() - at < length) return std::nullopt;
    BundleEntry entry = parse_bundle_id(bytes.substr(at, length));
    at += length;
    entry.size = size;
    if (offset > UINT64_MAX - size) return std::nullopt;
    table.end = std::max(table.end, offset + size);
    table.entries.push_back(std::move(entry));
  }
  table.end = std::max<std::uint64_t>(table.end, at);
  return table;
}

/// The header of a compressed bundle: 32-bit sizes up to version 2, 64-bit since 3; version 1 does
/// not have the bundle's own size.
struct PackedHeader {
  std::uint16_t method = 0;
  std::uint64_t size = 0;  ///< of the whole bundle; 0: not stored
  std::size_t header_size = 0;
};

std::optional<PackedHeader> parse_packed(std::string_view bytes) {
  PackedHeader header;
  const auto version = number_at<std::uint16_t>(bytes, 4);
  header.method = number_at<std::uint16_t>(bytes, 6);
  if (version == 1) {
    header.header_size = 20;
  } else if (version == 2) {
    header.size = number_at<std::uint32_t>(bytes, 8);
    header.header_size = 24;
  } else if (version == 3) {
    header.size = number_at<std::uint64_t>(bytes, 8);
    header.header_size = 32;
  } else {
    return std::nullopt;
  }
  if (header.size != 0 && header.size < header.header_size) return std::nullopt;
  return header;
}

class BundleWalk {
 public:
  BundleWalk(wheel::ByteSource& source, std::uint64_t offset, std::uint64_t size,
             const BundleLimits& limits)
      : source_(source), at_(offset), end_(offset + size), limits_(limits) {}

  Result<OffloadBundles> run() {
    while (true) {
      auto next = find_next();
      if (!next) return std::unexpected(std::move(next).error());
      if (!*next) break;
      if (++found_.bundles > limits_.bundles) {
        --found_.bundles;
        note(fmt::format("only the first {} bundles are read", limits_.bundles));
        break;
      }
      auto on = head_.starts_with(plain_magic) ? read_plain() : read_packed();
      if (!on) return std::unexpected(std::move(on).error());
      if (!*on) break;
    }
    std::ranges::sort(found_.entries);
    found_.entries.erase(std::ranges::unique(found_.entries).begin(), found_.entries.end());
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::uint64_t left() const { return end_ - at_; }

  void note(std::string why) {
    if (found_.stopped.empty()) found_.stopped = std::move(why);
  }

  Result<std::string> read(std::uint64_t size) {
    std::string bytes(std::min(size, left()), '\0');
    auto done = source_.read(at_, std::as_writable_bytes(std::span(bytes.data(), bytes.size())));
    if (!done) return std::unexpected(std::move(done).error());
    return bytes;
  }

  /// Moves to the next magic and stores the following header in `head_`. False: there is none.
  Result<bool> find_next() {
    auto bytes = read(longest_bundle_gap);
    if (!bytes) return std::unexpected(std::move(bytes).error());
    for (std::size_t i = 0; i < bytes->size(); i += bundle_alignment) {
      const std::string_view here = std::string_view(*bytes).substr(i);
      if (!here.starts_with(plain_magic) && !here.starts_with(compressed_magic)) continue;
      at_ += i;
      head_ = std::string(here);
      return true;
    }
    const bool padding = bytes->find_first_not_of('\0') == std::string::npos;
    if (!padding || left() > bytes->size()) note("bytes that are not a bundle follow");
    return false;
  }

  void add(std::vector<BundleEntry> entries) {
    for (BundleEntry& entry : entries) {
      if (entry.kind.empty() || entry.kind == "host") continue;
      entry.size =
          entry.size == 0 ? 0 : 1;  // whether there is code; the bytes themselves are not used
      if (std::ranges::find(found_.entries, entry) == found_.entries.end())
        found_.entries.push_back(std::move(entry));
    }
  }

  /// False: the scan ends here.
  Result<bool> read_plain() {
    std::optional<Table> table = parse_table(head_);
    if (!table && head_.size() < largest_table) {
      auto more = read(largest_table);
      if (!more) return std::unexpected(std::move(more).error());
      table = parse_table(*more);
    }
    if (!table || table->end > left()) {
      note("a bundle's table is damaged");
      return false;
    }
    add(std::move(table->entries));
    return advance(table->end);
  }

  Result<bool> read_packed() {
    ++found_.compressed;
    const std::optional<PackedHeader> header = parse_packed(head_);
    if (!header || header->size > left()) {
      note("the header of a compressed bundle is unknown");
      return false;
    }
    if (header->method != method_zstd) {
      note("a bundle is not compressed with zstd");
    } else if (found_.compressed > limits_.unpacked) {
      note(fmt::format("only the first {} compressed bundles are decompressed", limits_.unpacked));
    } else if (auto done = look_into(*header); !done) {
      return std::unexpected(std::move(done).error());
    }
    if (header->size == 0) {
      note("compressed bundles of version 1 do not say where the next one begins");
      return false;
    }
    return advance(header->size);
  }

  Result<void> look_into(const PackedHeader& header) {
    auto packed = read(header.size == 0 ? most_packed : std::min(header.size, most_packed));
    if (!packed) return std::unexpected(std::move(packed).error());
    if (packed->size() < header.header_size) {
      note("a compressed bundle is truncated");
      return {};
    }
    auto bytes =
        unpack_zstd_prefix(std::string_view(*packed).substr(header.header_size), largest_table);
    if (!bytes) {
      note(bytes.error().message);
      return {};
    }
    std::optional<Table> table;
    if (bytes->starts_with(plain_magic)) table = parse_table(*bytes);
    if (!table) {
      note("a compressed bundle's table is damaged");
      return {};
    }
    add(std::move(table->entries));
    return {};
  }

  [[nodiscard]] bool advance(std::uint64_t size) {
    at_ += std::min(left(), size);
    at_ = std::min(end_, at_ + (bundle_alignment - at_ % bundle_alignment) % bundle_alignment);
    return left() > 0;
  }

  wheel::ByteSource& source_;
  std::uint64_t at_;
  std::uint64_t end_;
  BundleLimits limits_;
  std::string head_;
  OffloadBundles found_;
};

}  // namespace

BundleEntry parse_bundle_id(std::string_view id) {
  BundleEntry entry;
  const bool printable = std::ranges::all_of(id, [](char c) { return c > ' ' && c < '\x7f'; });
  // kind-arch-vendor-os-environment-target; a target may contain dashes ("gfx11-generic").
  std::array<std::string_view, 5> parts{};
  std::string_view rest = id;
  for (std::string_view& part : parts) {
    const std::size_t dash = rest.find('-');
    part = rest.substr(0, dash);
    rest = dash == std::string_view::npos ? std::string_view() : rest.substr(dash + 1);
  }
  if (!printable || parts[0].empty() || parts[1].empty()) return entry;
  entry.kind = parts[0];
  entry.triple = fmt::format("{}-{}-{}", parts[1], parts[2], parts[3]);
  entry.target = rest;
  return entry;
}

Result<OffloadBundles> read_offload_bundles(wheel::ByteSource& source, std::uint64_t offset,
                                            std::uint64_t size, const BundleLimits& limits) {
  if (offset > source.size() || source.size() - offset < size)
    return fail(ErrorKind::malformed, "the section of the bundles extends beyond the file");
  return BundleWalk(source, offset, size, limits).run();
}

}  // namespace axle::binaries
