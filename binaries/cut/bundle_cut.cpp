#include "binaries/cut/bundle_cut.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "binaries/cut/zstd_frame.h"
#include "binaries/offload_bundle.h"
#include "providers/gfx_code.h"
#include "wheel/hash/named_hash.h"

namespace axle::binaries {
namespace {

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view packed_magic = "CCOB";
constexpr std::uint64_t page = 4096;  // to which bundles and code objects are aligned
constexpr std::uint64_t most_entries = 1024;
constexpr std::uint64_t longest_id = 256;
/// More than any code object file; what a frame says of itself is not trusted.
constexpr std::uint64_t largest_unpacked = 4ULL << 30;
/// Code objects shrink to a tenth, those of many architectures that are alike to less; zstd itself
/// makes 128 KiB of four bytes.
constexpr std::uint64_t free_unpacked = 64ULL << 20;
constexpr std::uint64_t most_ratio = 1000;
constexpr std::uint16_t method_zstd = 1;  // llvm::compression::Format

template <class Number>
std::optional<Number> number_at(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(Number)) return std::nullopt;
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

template <class Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::uint64_t aligned_to(std::uint64_t size, std::uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

struct BundledCode {
  std::string_view id;
  std::string_view code;
  BundleEntry parsed;
  bool kept = false;

  [[nodiscard]] bool for_device() const { return parsed.kind != "host"; }
  [[nodiscard]] std::string_view processor() const {
    return std::string_view(parsed.target).substr(0, parsed.target.find(':'));
  }
};

struct Bundle {
  std::vector<BundledCode> entries;
  std::uint64_t size = 0;
};

std::unexpected<Error> damaged() {
  return fail(ErrorKind::malformed, "a bundle's table is damaged");
}

Result<Bundle> parse_bundle(std::string_view bytes) {
  Bundle bundle;
  std::uint64_t at = plain_magic.size();
  const auto count = number_at<std::uint64_t>(bytes, at);
  if (!bytes.starts_with(plain_magic) || !count || *count > most_entries) return damaged();
  at += sizeof(std::uint64_t);
  std::uint64_t code = 0;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto offset = number_at<std::uint64_t>(bytes, at);
    const auto size = number_at<std::uint64_t>(bytes, at + 8);
    const auto length = number_at<std::uint64_t>(bytes, at + 16);
    at += 3 * sizeof(std::uint64_t);
    if (!length || *length > longest_id || bytes.size() - at < *length) return damaged();
    if (*offset > bytes.size() || bytes.size() - *offset < *size)
      return fail(ErrorKind::malformed, "a code object is longer than its bundle");
    BundledCode entry{bytes.substr(at, *length), bytes.substr(*offset, *size),
                      parse_bundle_id(bytes.substr(at, *length))};
    if (entry.parsed.kind.empty()) return damaged();
    at += *length;
    bundle.size = std::max(bundle.size, *offset + *size);
    code += *size;
    bundle.entries.push_back(std::move(entry));
  }
  bundle.size = std::max(bundle.size, at);
  // Each is written by itself: 1024 names of the same bytes would be 1024 times as many.
  if (code > bundle.size)
    return fail(ErrorKind::malformed, "the code objects of a bundle lie over one another");
  return bundle;
}

std::string render_bundle(const std::vector<BundledCode>& entries) {
  std::uint64_t offset = plain_magic.size() + sizeof(std::uint64_t);
  std::uint64_t count = 0;
  for (const BundledCode& entry : entries) {
    if (!entry.kept) continue;
    ++count;
    offset += 3 * sizeof(std::uint64_t) + entry.id.size();
  }
  std::string bytes(plain_magic);
  append(bytes, count);
  std::string code;
  const std::uint64_t begin = aligned_to(offset, page);
  for (const BundledCode& entry : entries) {
    if (!entry.kept) continue;
    code.resize(aligned_to(code.size(), page));
    append<std::uint64_t>(bytes, begin + code.size());
    append<std::uint64_t>(bytes, entry.code.size());
    append<std::uint64_t>(bytes, entry.id.size());
    bytes += entry.id;
    code += entry.code;
  }
  bytes.resize(begin);
  return bytes + code;
}

/// "CCOB", version, method; from version 2 on the size of all of it; the unpacked size, a hash, the
/// frame. Sizes have 32 bits, since version 3 64.
struct PackedBundle {
  std::uint16_t version = 0;
  std::uint64_t size = 0;
  std::uint64_t unpacked = 0;
  std::string_view frame;
};

template <class Size>
void read_sizes(std::string_view bytes, PackedBundle& packed, std::uint64_t& header) {
  packed.size = number_at<Size>(bytes, 8).value_or(0);
  packed.unpacked = number_at<Size>(bytes, 8 + sizeof(Size)).value_or(0);
  header = 8 + 2 * sizeof(Size) + sizeof(std::uint64_t);
}

Result<PackedBundle> parse_packed(std::string_view bytes) {
  PackedBundle packed;
  packed.version = number_at<std::uint16_t>(bytes, 4).value_or(0);
  const auto method = number_at<std::uint16_t>(bytes, 6);
  std::uint64_t header = 0;
  if (packed.version == 2) {
    read_sizes<std::uint32_t>(bytes, packed, header);
  } else if (packed.version == 3) {
    read_sizes<std::uint64_t>(bytes, packed, header);
  } else {
    return fail(ErrorKind::unsupported,
                fmt::format("version {} of compressed bundles cannot be cut", packed.version));
  }
  if (method != method_zstd)
    return fail(ErrorKind::unsupported, "a bundle is not compressed with zstd");
  if (packed.size < header || packed.size > bytes.size())
    return fail(ErrorKind::malformed, "a compressed bundle is longer than its section");
  if (packed.unpacked > std::min(largest_unpacked, free_unpacked + packed.size * most_ratio))
    return fail(ErrorKind::malformed, "a compressed bundle unpacks to too much");
  packed.frame = bytes.substr(header, packed.size - header);
  return packed;
}

/// The first eight bytes of the content's MD5, as LLVM's OffloadBundler writes them.
std::string bundle_hash(std::string_view content) {
  wheel::NamedHash md5("md5");
  md5.update(std::as_bytes(std::span(content.data(), content.size())));
  const std::string digits = md5.finish();
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(std::uint64_t) && 2 * i + 1 < digits.size(); ++i)
    bytes += static_cast<char>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
  bytes.resize(sizeof(std::uint64_t));
  return bytes;
}

Result<std::string> render_packed(std::uint16_t version, std::string_view content) {
  const auto frame = pack_zstd(content);
  if (!frame) return std::unexpected(frame.error());
  std::string bytes(packed_magic);
  append<std::uint16_t>(bytes, version);
  append<std::uint16_t>(bytes, method_zstd);
  const bool wide = version == 3;
  const std::uint64_t size = (wide ? 32 : 24) + frame->size();
  for (const std::uint64_t number : {size, static_cast<std::uint64_t>(content.size())}) {
    if (wide) {
      append<std::uint64_t>(bytes, number);
    } else {
      append<std::uint32_t>(bytes, static_cast<std::uint32_t>(number));
    }
  }
  return bytes + bundle_hash(content) + *frame;
}

/// One bundle at the beginning of `bytes`: what it holds, and its size there.
struct FoundBundle {
  Bundle bundle;
  std::uint64_t size = 0;
  std::uint16_t packed_version = 0;  ///< 0: it is not compressed
  std::string unpacked;              ///< to which `bundle` refers
};

Result<FoundBundle> find_bundle(std::string_view bytes) {
  FoundBundle found;
  if (bytes.starts_with(packed_magic)) {
    const auto packed = parse_packed(bytes);
    if (!packed) return std::unexpected(packed.error());
    auto content = unpack_zstd(packed->frame, packed->unpacked);
    if (!content) return std::unexpected(content.error());
    found.unpacked = std::move(*content);
    found.packed_version = packed->version;
    found.size = packed->size;
  }
  auto bundle = parse_bundle(found.packed_version != 0 ? found.unpacked : bytes);
  if (!bundle) return std::unexpected(bundle.error());
  found.bundle = std::move(*bundle);
  if (found.packed_version == 0) found.size = found.bundle.size;
  return found;
}

using Visit = std::function<Result<void>(std::uint64_t at, FoundBundle& found)>;

Result<void> visit_bundles(std::string_view section, const Visit& visit) {
  std::uint64_t at = 0;
  std::uint64_t unpacked = 0;
  while (true) {
    const std::size_t next = section.find_first_not_of('\0', at);
    if (next == std::string_view::npos) return {};
    const std::string_view here = section.substr(next);
    Result<void> done;
    if (!here.starts_with(plain_magic) && !here.starts_with(packed_magic)) {
      done = fail(ErrorKind::malformed, "the bytes are no bundle");
    } else if (auto found = find_bundle(here); !found) {
      done = std::unexpected(std::move(found).error());
    } else if (unpacked += found->unpacked.size();
               unpacked > std::max(largest_unpacked, section.size() * 100)) {
      done = fail(ErrorKind::malformed, "its compressed bundles unpack to too much together");
    } else {
      done = visit(next, *found);
      at = next + found->size;
    }
    if (!done)
      return std::unexpected(within(fmt::format("at byte {}", next), std::move(done).error()));
  }
}

class BundleCutter {
 public:
  BundleCutter(std::string_view section, std::string_view processor, std::uint64_t fixed)
      : section_(section), fixed_(fixed) {
    targets_.emplace_back(processor);
    std::string generic(providers::generic_gfx(processor));
    std::ranges::replace(generic, '_', '-');
    if (!generic.empty()) targets_.push_back(std::move(generic));
  }

  Result<CutSection> run() {
    auto done = visit_bundles(section_, [this](std::uint64_t at, FoundBundle& found) {
      choose(found.bundle.entries, at < fixed_);
      return write(at, found);
    });
    if (!done) return std::unexpected(std::move(done).error());
    return std::move(cut_);
  }

 private:
  void choose(std::vector<BundledCode>& entries, bool fixed) {
    CutCounts& counts = cut_.counts;
    ++counts.containers;
    if (fixed) ++counts.fixed;
    bool found = false;
    for (const std::string& target : targets_) {
      for (BundledCode& entry : entries) {
        if (entry.for_device() && entry.processor() == target) entry.kept = found = true;
      }
      if (!found) continue;
      ++(target == targets_.front() ? counts.own : counts.fallback);
      break;
    }
    if (!found) {
      ++counts.none;
      keep_smallest(entries);
    }
    for (BundledCode& entry : entries) {
      entry.kept = entry.kept || fixed || !entry.for_device();
      if (entry.for_device()) {
        ++(entry.kept ? counts.kept : counts.removed);
      }
    }
  }

  static void keep_smallest(std::vector<BundledCode>& entries) {
    BundledCode* smallest = nullptr;
    for (BundledCode& entry : entries) {
      if (!entry.for_device()) continue;
      if (smallest == nullptr || entry.code.size() < smallest->code.size()) smallest = &entry;
    }
    if (smallest != nullptr) smallest->kept = true;
  }

  Result<void> write(std::uint64_t at, const FoundBundle& found) {
    const bool whole = std::ranges::all_of(found.bundle.entries, &BundledCode::kept);
    std::string bytes;
    if (whole) {
      bytes = section_.substr(at, found.size);
    } else {
      bytes = render_bundle(found.bundle.entries);
      if (found.packed_version != 0) {
        auto packed = render_packed(found.packed_version, bytes);
        if (!packed) return std::unexpected(std::move(packed).error());
        bytes = std::move(*packed);
      }
    }
    cut_.content.resize(at < fixed_ ? at
                                    : aligned_to(cut_.content.size(), at % page == 0 ? page : 8));
    cut_.containers.push_back({at, found.size, cut_.content.size(), bytes.size()});
    cut_.content += bytes;
    if (cut_.content.size() > section_.size())
      return fail(ErrorKind::unsupported, "what stays of its bundles is larger than they were");
    return {};
  }

  std::string_view section_;
  std::uint64_t fixed_;
  std::vector<std::string> targets_;  ///< the best first
  CutSection cut_;
};

}  // namespace

Result<CutSection> cut_bundles(std::string_view section, std::string_view processor,
                               std::uint64_t fixed) {
  return BundleCutter(section, processor, fixed).run();
}

Result<std::vector<std::string>> bundled_processors(std::string_view section) {
  std::set<std::string> processors;
  auto done = visit_bundles(section, [&](std::uint64_t, FoundBundle& found) -> Result<void> {
    for (const BundledCode& entry : found.bundle.entries) {
      if (entry.for_device() && entry.parsed.kind.starts_with("hip") && !entry.code.empty())
        processors.emplace(entry.processor());
    }
    return {};
  });
  if (!done) return std::unexpected(std::move(done).error());
  return std::vector<std::string>(processors.begin(), processors.end());
}

}  // namespace axle::binaries
