#include "wheel/zip/zip_reader.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "wheel/zip/zip_content.h"
#include "wheel/zip/zip_directory.h"
#include "wheel/zip/zip_format.h"

namespace axle::wheel {
namespace {

constexpr std::size_t read_ahead = 64UL << 10;

Result<std::vector<std::byte>> read_start(ByteSource& source, const ZipEntry& entry,
                                          std::size_t length) {
  std::vector<std::byte> bytes(length);
  auto read = source.read(entry.header_offset, bytes);
  if (!read) return std::unexpected(std::move(read).error());
  return bytes;
}

}  // namespace

Result<ZipReader> ZipReader::open_directory(std::unique_ptr<ByteSource> source, std::string where,
                                            const ZipLimits& limits) {
  ZipReader reader;
  reader.source_ = std::move(source);
  reader.where_ = std::move(where);
  auto entries = zip::read_directory(*reader.source_, reader.where_, limits);
  if (!entries) return std::unexpected(std::move(entries).error());
  reader.entries_ = std::move(*entries);
  reader.by_name_.resize(reader.entries_.size());
  std::iota(reader.by_name_.begin(), reader.by_name_.end(), std::size_t{0});
  std::ranges::sort(reader.by_name_, {},
                    [&](std::size_t i) -> const std::string& { return reader.entries_[i].name; });
  return reader;
}

Result<ZipReader> ZipReader::open(std::unique_ptr<ByteSource> source, std::string where,
                                  const ZipLimits& limits) {
  auto reader = open_directory(std::move(source), std::move(where), limits);
  if (!reader) return reader;
  for (ZipEntry& entry : reader->entries_) {
    const auto record = read_start(*reader->source_, entry, zip::local_header_length(entry));
    if (!record) return std::unexpected(record.error());
    const auto offset = zip::check_local_header(reader->where_, entry, *record);
    if (!offset) return std::unexpected(offset.error());
    auto end = zip::check_record_end(*reader->source_, reader->where_, entry, *offset);
    if (!end) return std::unexpected(std::move(end).error());
    entry.data_offset = *offset;
  }
  return reader;
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      by_name_, name, {}, [&](std::size_t i) { return std::string_view(entries_[i].name); });
  if (found == by_name_.end() || entries_[*found].name != name) return nullptr;
  return &entries_[*found];
}

Result<void> ZipReader::read(const ZipEntry& entry, const Sink& sink) const {
  if (entry.data_offset != 0) {
    return zip::read_content(*source_, where_, entry, {{.data_offset = entry.data_offset}, {}, {}},
                             sink);
  }
  return read_in_order(*source_, entry, sink);
}

Result<void> ZipReader::read_in_order(ByteSource& source, const ZipEntry& entry, const Sink& sink,
                                      const PlacesWanted* wanted) const {
  // One read for header and content where they are small: over a network each read is a request.
  const std::uint64_t length = entry.record_end - entry.header_offset;
  const std::size_t header_length = zip::local_header_length(entry);
  const auto record =
      read_start(source, entry, std::min<std::uint64_t>(length, header_length + read_ahead));
  if (!record) return std::unexpected(record.error());
  const auto offset =
      zip::check_local_header(where_, entry, std::span(*record).first(header_length));
  if (!offset) return std::unexpected(offset.error());
  const auto ahead = std::span(*record).subspan(*offset - entry.header_offset);
  const zip::ContentStart start{{.data_offset = *offset}, ahead, {}};
  if (auto read = zip::read_content(source, where_, entry, start, sink, wanted); !read) return read;
  return zip::check_record_end(source, where_, entry, *offset);
}

bool ZipReader::may_be_place(const ZipEntry& entry, const ContentPlace& place) {
  const std::uint64_t least = zip::local_size + entry.name.size();
  const std::uint64_t room = entry.record_end - entry.header_offset;
  return place.data_offset >= entry.header_offset &&
         place.data_offset - entry.header_offset >= least && room >= entry.compressed_size &&
         place.data_offset - entry.header_offset <= room - entry.compressed_size &&
         place.packed_bits / 8 <= entry.compressed_size && place.size <= entry.size &&
         (entry.method != zip::stored || place.packed_bits == 8 * place.size);
}

Result<void> ZipReader::continue_in_order(ByteSource& source, const ZipEntry& entry,
                                          const ContentPlace& place,
                                          std::span<const std::byte> window, const Sink& sink,
                                          const PlacesWanted* wanted) const {
  if (!may_be_place(entry, place) ||
      window.size() < std::min<std::uint64_t>(place.size, ContentPlace::window)) {
    return zip::entry_error(ErrorKind::malformed, where_, entry.name,
                            "cannot be unpacked from the middle");
  }
  const zip::ContentStart start{place, {}, window};
  if (auto read = zip::read_content(source, where_, entry, start, sink, wanted); !read) return read;
  return zip::check_record_end(source, where_, entry, place.data_offset);
}

Result<std::string> ZipReader::read_text(const ZipEntry& entry, std::uint64_t limit) const {
  if (entry.size > limit) {
    return zip::entry_error(
        ErrorKind::malformed, where_, entry.name,
        fmt::format("has {} bytes, more than the {} allowed for such a file", entry.size, limit));
  }
  std::string text;
  text.reserve(entry.size);
  auto done = read(entry, [&](std::span<const std::byte> bytes) -> Result<void> {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  });
  if (!done) return std::unexpected(std::move(done).error());
  return text;
}

}  // namespace axle::wheel
