// Archives that are written here are judged by libarchive, by our strict reader, and byte by byte
// by the tests' own hand (zip_builder.h), which knows nothing of the writer.
#include "wheel/zip/stored_zip.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>
#include <libdeflate.h>

#include "tests/wheel/second_reader.h"
#include "tests/wheel/zip_builder.h"
#include "wheel/zip/zip_reader.h"

namespace {

using namespace axle::wheel;
using namespace axle::wheel::testing;
using axle::ErrorKind;
using axle::Result;

using Contents = std::vector<std::pair<std::string, std::string>>;

StoredMember member_of(const std::string& path, const std::string& text) {
  return {path, text.size(), libdeflate_crc32(0, text.data(), text.size()),
          [text](const ZipSink& sink) { return sink(text); }};
}

std::string written(const std::vector<StoredMember>& members) {
  std::string bytes;
  const auto done = write_stored_zip(members, [&](std::string_view part) -> Result<void> {
    bytes += part;
    return {};
  });
  REQUIRE_MESSAGE(done.has_value(), done.error().message);
  return bytes;
}

std::vector<StoredMember> members_of(const Contents& contents) {
  std::vector<StoredMember> members;
  for (const auto& [path, text] : contents) members.push_back(member_of(path, text));
  return members;
}

/// An archive of which the contents are zeros that nobody keeps.
class Sparse {
 public:
  void add(std::string_view bytes) {
    if (bytes.data() != zeros().data()) kept_.emplace(size_, bytes);
    size_ += bytes.size();
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  void read(std::uint64_t offset, char* out, std::size_t count) const {
    std::fill_n(out, count, '\0');
    for (const auto& [begin, bytes] : kept_) {
      const std::uint64_t from = std::max(begin, offset);
      const std::uint64_t to = std::min(begin + bytes.size(), offset + count);
      if (from < to) std::copy_n(bytes.data() + (from - begin), to - from, out + (from - offset));
    }
  }
  static const std::string& zeros() {
    static const std::string bytes(1U << 20, '\0');
    return bytes;
  }

 private:
  std::map<std::uint64_t, std::string> kept_;
  std::uint64_t size_ = 0;
};

class SparseSource final : public ByteSource {
 public:
  explicit SparseSource(const Sparse& archive) : archive_(archive) {}
  [[nodiscard]] std::uint64_t size() const override { return archive_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    archive_.read(offset, reinterpret_cast<char*>(out.data()), out.size());
    return {};
  }

 private:
  const Sparse& archive_;
};

StoredMember zeros_of(const std::string& path, std::uint64_t size) {
  const auto give = [size](const auto& take) -> Result<void> {
    for (std::uint64_t left = size; left > 0;) {
      const std::size_t part = std::min<std::uint64_t>(left, Sparse::zeros().size());
      if (auto done = take(std::string_view(Sparse::zeros()).substr(0, part)); !done) return done;
      left -= part;
    }
    return {};
  };
  std::uint32_t crc32 = 0;
  (void)give([&](std::string_view bytes) -> Result<void> {
    crc32 = libdeflate_crc32(crc32, bytes.data(), bytes.size());
    return {};
  });
  return {path, size, crc32, [give](const ZipSink& sink) { return give(sink); }};
}

/// How libarchive reads a Sparse.
struct Reading {
  const Sparse* archive;
  std::uint64_t at = 0;
  std::array<char, 65536> buffer = {};
};

la_ssize_t read_part(archive* /*reader*/, void* data, const void** out) {
  auto& reading = *static_cast<Reading*>(data);
  const std::size_t count =
      std::min<std::uint64_t>(reading.buffer.size(), reading.archive->size() - reading.at);
  reading.archive->read(reading.at, reading.buffer.data(), count);
  reading.at += count;
  *out = reading.buffer.data();
  return static_cast<la_ssize_t>(count);
}

la_int64_t seek_to(archive* /*reader*/, void* data, la_int64_t offset, int whence) {
  auto& reading = *static_cast<Reading*>(data);
  const std::uint64_t base = whence == SEEK_SET   ? 0
                             : whence == SEEK_CUR ? reading.at
                                                  : reading.archive->size();
  reading.at = base + static_cast<std::uint64_t>(offset);
  return static_cast<la_int64_t>(reading.at);
}

using Sizes = std::vector<std::pair<std::string, std::uint64_t>>;

/// The names and sizes that libarchive finds.
Sizes listed_by_libarchive(const Sparse& sparse) {
  Sizes found;
  Reading reading{&sparse};
  archive* const reader = archive_read_new();
  archive_read_support_format_zip_seekable(reader);
  archive_read_set_read_callback(reader, read_part);
  archive_read_set_seek_callback(reader, seek_to);
  archive_read_set_callback_data(reader, &reading);
  archive_entry* entry = nullptr;
  int status = archive_read_open1(reader);
  while (status == ARCHIVE_OK && (status = archive_read_next_header(reader, &entry)) == ARCHIVE_OK)
    found.emplace_back(archive_entry_pathname(entry), archive_entry_size(entry));
  CHECK_MESSAGE(status == ARCHIVE_EOF, archive_error_string(reader));
  archive_read_free(reader);
  return found;
}

}  // namespace

TEST_CASE("a stored archive has the bytes that the format asks for") {
  const Contents contents = {{"a.txt", "text"}, {"empty", ""}, {"dir/\xC3\xA9", "e\0f"}};
  std::vector<Member> members;
  for (const auto& [path, text] : contents) {
    Member& member = members.emplace_back();
    member.name = path;
    member.content = text;
    if (path == "dir/\xC3\xA9") member.flags = 1U << 11;  // a name in UTF-8
  }
  // zip_builder says of each entry that version 2.0 on Unix made it, as the writer does.
  CHECK(written(members_of(contents)) == build_zip(members));
  CHECK(written({}) == build_zip({}));
  CHECK(written(members_of(contents)) == written(members_of(contents)));
}

TEST_CASE("what is written is read by libarchive and by our reader") {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  const Contents contents = {{"SHA256SUMS", "# axle-bundle 1\n"},
                             {"a b", every},
                             {"big", std::string(700'000, 'z') + "PK\x05\x06"},
                             {"deep/er/\xF0\x9F\x90\x8D.py", "PK\x03\x04PK\x01\x02"},
                             {"nothing", ""},
                             {std::string(255, 'n') + "/" + std::string(255, 'm'), "long"}};
  const std::string bytes = written(members_of(contents));
  const SecondOpinion second = read_with_libarchive(bytes);
  CHECK_MESSAGE(second.error.empty(), second.error);
  CHECK(second.members == contents);
  const auto reader = ZipReader::open(memory_source(bytes), "stored.zip");
  REQUIRE_MESSAGE(reader.has_value(), reader.error().message);
  Contents found;
  for (const ZipEntry& entry : reader->entries()) {
    CHECK(entry.method == 0);
    CHECK(entry.size == entry.compressed_size);
    CHECK_FALSE(entry.executable);
    found.emplace_back(entry.name, reader->read_text(entry, 1U << 20).value());
  }
  CHECK(found == contents);
}

TEST_CASE("contents in pieces give the same archive, and each byte is passed on once") {
  const std::string text(100'000, 'q');
  StoredMember pieces = member_of("a", text);
  pieces.content = [&text](const ZipSink& sink) -> Result<void> {
    for (std::size_t at = 0; at < text.size(); at += 777)
      if (auto done = sink(std::string_view(text).substr(at, 777)); !done) return done;
    return sink("");
  };
  CHECK(written({pieces}) == written({member_of("a", text)}));
}

TEST_CASE("a content that is not what its member says ends the archive with its name") {
  const auto error_of = [](const StoredMember& member) {
    const auto done = write_stored_zip({member_of("before", "x"), member},
                                       [](std::string_view) -> Result<void> { return {}; });
    REQUIRE_FALSE(done.has_value());
    return done.error();
  };
  StoredMember longer = member_of("dir/a.whl", "text");
  longer.size = 3;
  StoredMember shorter = member_of("dir/a.whl", "text");
  shorter.size = 5;
  StoredMember other = member_of("dir/a.whl", "text");
  other.content = [](const ZipSink& sink) { return sink("tex!"); };
  StoredMember nothing = member_of("dir/a.whl", "text");
  nothing.content = [](const ZipSink&) -> Result<void> { return {}; };
  for (const StoredMember& bad : {longer, shorter, other, nothing}) {
    CHECK(error_of(bad).kind == ErrorKind::mismatch);
    CHECK(error_of(bad).message == "dir/a.whl was changed while it was being read");
    CHECK(error_of(bad).hint == "run the command again");
  }
  StoredMember unreadable = member_of("a", "text");
  unreadable.content = [](const ZipSink&) -> Result<void> {
    return axle::fail(ErrorKind::io, "cannot read it");
  };
  CHECK(error_of(unreadable).message == "cannot read it");
}

TEST_CASE("the sink's error ends the archive, wherever it comes") {
  const auto members = members_of({{"a", "text"}, {"b", "more"}});
  std::size_t parts = 0;
  REQUIRE(write_stored_zip(members, [&](std::string_view) -> Result<void> {
            ++parts;
            return {};
          }).has_value());
  CHECK(parts == 6);
  for (std::size_t last = 0; last < parts; ++last) {
    std::size_t seen = 0;
    const auto done = write_stored_zip(members, [&](std::string_view) -> Result<void> {
      if (seen++ == last) return axle::fail(ErrorKind::io, "the disk is full");
      return {};
    });
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().message == "the disk is full");
    CHECK(seen == last + 1);
  }
}

TEST_CASE("so many members that 16 bits cannot count them have a Zip64 end") {
  for (const std::size_t count : {65'534U, 65'535U, 65'536U, 70'000U}) {
    CAPTURE(count);
    std::vector<StoredMember> members;
    members.reserve(count);
    for (std::size_t i = 0; i < count; ++i) members.push_back(member_of(std::to_string(i), ""));
    const std::string bytes = written(members);
    CHECK((bytes.find("PK\x06\x06") != std::string::npos) == (count >= 65'535));
    const SecondOpinion second = read_with_libarchive(bytes);
    CHECK_MESSAGE(second.error.empty(), second.error);
    CHECK(second.members.size() == count);
    CHECK(second.members.back().first == std::to_string(count - 1));
    const auto reader = ZipReader::open(memory_source(bytes), "many.zip");
    REQUIRE_MESSAGE(reader.has_value(), reader.error().message);
    CHECK(reader->entries().size() == count);
  }
}

TEST_CASE("sizes and places beyond 32 bits are in Zip64 records, and only these") {
  const Sizes sizes = {{"largest of 32 bits", 0xFFFF'FFFEULL}, {"at the edge", 0},
                       {"just too large", 0xFFFF'FFFFULL},     {"far behind", 5},
                       {"larger", 0x1'0000'0001ULL},           {"last", 1}};
  std::vector<StoredMember> members;
  for (const auto& [path, size] : sizes) members.push_back(zeros_of(path, size));
  Sparse sparse;
  std::vector<std::string> headers;
  const auto done = write_stored_zip(members, [&](std::string_view bytes) -> Result<void> {
    // Of what is written only the contents are zeros alone.
    const bool content = bytes.data() == Sparse::zeros().data();
    sparse.add(bytes);
    if (!content && bytes.starts_with("PK\x03\x04")) headers.emplace_back(bytes);
    return {};
  });
  REQUIRE_MESSAGE(done.has_value(), done.error().message);
  REQUIRE(headers.size() == sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool large = sizes[i].second >= 0xFFFF'FFFFULL;
    const std::string wide = little_endian(sizes[i].second, 8);
    const std::string narrow = large ? std::string(4, '\xFF') : wide.substr(0, 4);
    CHECK(headers[i].substr(4, 2) == little_endian(large ? 45 : 20, 2));
    CHECK(headers[i].substr(18, 8) == narrow + narrow);
    CHECK(headers[i].substr(30 + sizes[i].first.size()) ==
          (large ? extra_block(1, wide + wide) : ""));
  }
  CHECK(listed_by_libarchive(sparse) == sizes);
  ZipLimits limits;
  limits.max_ratio = 1;
  const auto reader = ZipReader::open(std::make_unique<SparseSource>(sparse), "large.zip", limits);
  REQUIRE_MESSAGE(reader.has_value(), reader.error().message);
  Sizes found;
  for (const ZipEntry& entry : reader->entries()) found.emplace_back(entry.name, entry.size);
  CHECK(found == sizes);
}
