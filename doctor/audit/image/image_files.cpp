#include "doctor/audit/image/image_files.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "doctor/audit/image/tar_reader.h"

namespace axle::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_text = 16ULL << 20;

bool leads_out(std::string_view name) {
  const fs::path path(name);
  if (path.is_absolute()) return true;
  for (const fs::path& part : path) {
    if (part == "..") return true;
  }
  return false;
}

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
  if ((is(0, 0x1F) && is(1, 0x8B)) || (is(0, 0x28) && is(1, 0xB5)) || (is(0, 0xFD) && is(1, 0x37)))
    return fail(ErrorKind::unsupported, fmt::format("{}: the archive is compressed", where_),
                "unpack it first: gunzip, zstd -d, or xz -d; its layers may be compressed");
  auto stream = open_unpacked({archive_, 0, archive_->size()}, where_);
  if (!stream) return std::unexpected(std::move(stream).error());
  TarReader tar(**stream, where_);
  while (true) {
    auto member = tar.next();
    if (!member) return std::unexpected(std::move(member).error());
    if (!*member) return {};
    TarMember& one = **member;
    if (one.kind == TarKind::file && !one.sparse && !one.outside)
      places_.insert_or_assign(std::move(one.name), Place{one.offset, one.size});
  }
}

Result<ByteRange> ImageFiles::find(std::string_view name) const {
  if (leads_out(name))
    return fail(ErrorKind::malformed, fmt::format("{}: {} leads out of the image", where_, name));
  if (!folder_) {
    const auto place = places_.find(name);
    if (place == places_.end())
      return fail(ErrorKind::not_found, fmt::format("{}: no {} in it", where_, name));
    return ByteRange{archive_, place->second.offset, place->second.size};
  }
  const std::string path = fmt::format("{}/{}", where_, name);
  std::error_code gone;
  if (!fs::is_regular_file(fs::symlink_status(path, gone)))
    return fail(ErrorKind::not_found, fmt::format("{}: no {} in it", where_, name));
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(std::move(source).error());
  const std::uint64_t size = (*source)->size();
  return ByteRange{std::shared_ptr<wheel::ByteSource>(std::move(*source)), 0, size};
}

Result<std::string> ImageFiles::read_text(std::string_view name) const {
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
