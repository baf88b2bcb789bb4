#include "doctor/audit/image/image_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace axle::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_text = 16ULL << 20;
constexpr std::uint64_t most_kept = 256ULL << 20;  ///< bytes of names and documents

bool leads_out(std::string_view name) {
  const fs::path path(name);
  if (path.is_absolute()) return true;
  for (const fs::path& part : path) {
    if (part == "..") return true;
  }
  return false;
}

/// What a symbolic link of the archive names, if it is in the archive.
std::optional<std::string> target_of(const std::string& name, const std::string& link) {
  if (fs::path(link).is_absolute()) return std::nullopt;
  const fs::path path = (fs::path(name).parent_path() / link).lexically_normal();
  if (path.empty() || leads_out(path.generic_string())) return std::nullopt;
  return path.generic_string();
}

/// The unpacked bytes of a compressed archive by their place. What lies ahead is unpacked and
/// skipped; for what lies behind it begins again.
class UnpackedSource final : public wheel::ByteSource {
 public:
  UnpackedSource(ByteRange packed, std::string where)
      : packed_(std::move(packed)), where_(std::move(where)) {}

  /// Nobody knows before the end.
  [[nodiscard]] std::uint64_t size() const override { return UINT64_MAX; }

  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    const std::lock_guard lock(mutex_);
    while (!out.empty()) {
      auto block = block_at(offset / block_size);
      if (!block) return std::unexpected(std::move(block).error());
      const std::uint64_t before = offset % block_size;
      if (before >= block->size())
        return fail(ErrorKind::malformed, fmt::format("{}: it ends too early", where_),
                    "the image is damaged or truncated: save or pull it again");
      const auto part =
          block->subspan(before).first(std::min<std::size_t>(out.size(), block->size() - before));
      std::ranges::copy(part, out.begin());
      out = out.subspan(part.size());
      offset += part.size();
    }
    return {};
  }

 private:
  static constexpr std::uint64_t block_size = 256 << 10;

  struct Block {
    std::uint64_t number = UINT64_MAX;
    std::vector<std::byte> bytes;  ///< fewer at the end
  };

  Result<std::span<const std::byte>> block_at(std::uint64_t number) {
    for (const Block& one : kept_) {
      if (one.number == number) return std::span(one.bytes);
    }
    if (!stream_ || number < next_) {
      auto stream = open_unpacked(packed_, where_);
      if (!stream) return std::unexpected(std::move(stream).error());
      stream_ = std::move(*stream);
      next_ = 0;
    }
    if (auto skipped = stream_->skip((number - next_) * block_size); !skipped)
      return std::unexpected(std::move(skipped).error());
    // The one before stays: of a layer the first bytes are looked at twice.
    std::ranges::rotate(kept_, kept_.begin() + 1);
    Block& block = kept_.back();
    block.number = UINT64_MAX;
    block.bytes.resize(block_size);
    std::size_t filled = 0;
    while (filled < block_size) {
      auto got = stream_->read(std::span(block.bytes).subspan(filled));
      if (!got) return std::unexpected(std::move(got).error());
      if (*got == 0) break;
      filled += *got;
    }
    block.bytes.resize(filled);
    block.number = number;
    next_ = number + 1;
    return std::span(block.bytes);
  }

  ByteRange packed_;
  std::string where_;
  std::mutex mutex_;
  std::unique_ptr<ByteStream> stream_;
  std::uint64_t next_ = 0;  ///< the block that the stream gives next
  std::array<Block, 2> kept_;
};

}  // namespace

bool is_image_folder(const std::string& path) {
  std::error_code gone;
  if (fs::is_regular_file(path + "/oci-layout", gone)) return true;
  std::array<std::byte, 1> first{};
  const auto manifest = wheel::open_file_source(path + "/manifest.json");
  return manifest && (*manifest)->size() != 0 && (*manifest)->read(0, first) &&
         first[0] == std::byte{'['};
}

Result<ImageFiles> ImageFiles::open(const std::string& path) {
  ImageFiles files;
  files.where_ = path;
  std::error_code gone;
  files.folder_ = fs::is_directory(path, gone);
  if (files.folder_) return files;
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(std::move(source).error());
  return of_archive(std::move(*source), path);
}

Result<ImageFiles> ImageFiles::of_archive(std::unique_ptr<wheel::ByteSource> source,
                                          std::string where) {
  ImageFiles files;
  files.where_ = std::move(where);
  files.archive_ = std::move(source);
  if (auto listed = files.list_archive(); !listed)
    return std::unexpected(std::move(listed).error());
  return files;
}

Result<void> ImageFiles::list_archive() {
  std::array<std::byte, 4> magic{};
  if (archive_->size() >= magic.size()) {
    if (auto read = archive_->read(0, magic); !read) return read;
  }
  const auto is = [&](std::size_t i, unsigned value) { return magic[i] == std::byte(value); };
  if ((is(0, 0xFD) && is(1, 0x37)) || (is(0, 0x42) && is(1, 0x5A)))
    return fail(
        ErrorKind::unsupported,
        fmt::format("{}: the archive is compressed with {}", where_, is(0, 0xFD) ? "xz" : "bzip2"),
        fmt::format("unpack it first: {} -d; gzip and zstd are read as they are",
                    is(0, 0xFD) ? "xz" : "bzip2"));
  compressed_ = (is(0, 0x1F) && is(1, 0x8B)) || (is(0, 0x28) && is(1, 0xB5));
  ByteRange range{archive_, 0, archive_->size()};
  auto stream = open_unpacked(range, where_);
  if (!stream) return std::unexpected(std::move(stream).error());
  if (auto taken = take_members(**stream); !taken) return taken;
  if (!compressed_) return {};
  // The checksum is at the end.
  if (auto rest = (*stream)->skip(UINT64_MAX); !rest)
    return std::unexpected(std::move(rest).error());
  archive_ = std::make_shared<UnpackedSource>(std::move(range), where_);
  return {};
}

Result<void> ImageFiles::take_members(ByteStream& stream) {
  TarReader tar(stream, where_);
  while (true) {
    auto member = tar.next();
    if (!member) return std::unexpected(std::move(member).error());
    if (!*member) return {};
    TarMember& one = **member;
    if (one.outside) continue;
    kept_ += one.name.size() + one.link.size();
    if (kept_ > most_kept)
      return fail(ErrorKind::unsupported, fmt::format("{}: too many files for an image", where_));
    if (one.kind == TarKind::hard_link) {
      if (auto target = tar_name(one.link)) links_.insert_or_assign(one.name, std::move(*target));
    } else if (one.kind == TarKind::symlink) {
      if (auto target = target_of(one.name, one.link))
        links_.insert_or_assign(one.name, std::move(*target));
    }
    if (one.kind != TarKind::file || one.sparse) continue;
    if (compressed_) {
      if (auto taken = take_text(tar, one); !taken) return taken;
    }
    places_.insert_or_assign(std::move(one.name), Place{one.offset, one.size});
  }
}

Result<void> ImageFiles::take_text(TarReader& tar, const TarMember& member) {
  constexpr std::uint64_t largest = 1 << 20;
  if (member.size > largest || member.size + kept_ > most_kept) return {};
  std::string text(member.size, '\0');
  std::span<char> room(text);
  while (!room.empty()) {
    auto read = tar.read(std::as_writable_bytes(room));
    if (!read) return std::unexpected(std::move(read).error());
    if (*read == 0) break;
    room = room.subspan(*read);
  }
  if (!text.starts_with('{') && !text.starts_with('[')) return {};
  kept_ += text.size();
  texts_.insert_or_assign(member.name, std::move(text));
  return {};
}

Result<ByteRange> ImageFiles::find(std::string_view name) const {
  if (leads_out(name))
    return fail(ErrorKind::malformed, fmt::format("{}: {} leads out of the image", where_, name));
  if (folder_) return find_in_folder(name);
  constexpr unsigned longest_chain = 8;
  std::string_view at = name;
  for (unsigned i = 0; i < longest_chain; ++i) {
    if (const auto place = places_.find(at); place != places_.end())
      return ByteRange{archive_, place->second.offset, place->second.size};
    const auto link = links_.find(at);
    if (link == links_.end()) break;
    at = link->second;
  }
  return fail(ErrorKind::not_found, fmt::format("{}: no {} in it", where_, name));
}

Result<ByteRange> ImageFiles::find_in_folder(std::string_view name) const {
  const std::string path = fmt::format("{}/{}", where_, name);
  std::error_code gone;
  const fs::path real = fs::canonical(path, gone);
  if (gone || !fs::is_regular_file(real, gone))
    return fail(ErrorKind::not_found, fmt::format("{}: no {} in it", where_, name));
  const fs::path folder = fs::canonical(where_, gone);
  if (gone || std::ranges::mismatch(folder, real).in1 != folder.end())
    return fail(ErrorKind::malformed,
                fmt::format("{}: {} is a link that leads out of the image", where_, name),
                "copy the image with what its links name (cp -rL)");
  auto source = wheel::open_file_source(real.string());
  if (!source) return std::unexpected(std::move(source).error());
  const std::uint64_t size = (*source)->size();
  return ByteRange{std::shared_ptr<wheel::ByteSource>(std::move(*source)), 0, size};
}

Result<std::string> ImageFiles::read_text(std::string_view name) const {
  if (const auto kept = texts_.find(name); kept != texts_.end()) return kept->second;
  auto range = find(name);
  if (!range) return std::unexpected(std::move(range).error());
  if (range->size > largest_text)
    return fail(ErrorKind::malformed,
                fmt::format("{}: {} has {} bytes", where_, name, range->size));
  std::string text(range->size, '\0');
  if (auto read = range->source->read(range->offset, std::as_writable_bytes(std::span(text)));
      !read)
    return std::unexpected(std::move(read).error());
  return text;
}

}  // namespace axle::doctor
