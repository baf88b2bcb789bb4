// What the strict reader takes: every honest way in which wheels are packed. libarchive, as second
// reader, must see the same names and contents.
#include "wheel/zip/zip_reader.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "tests/wheel/second_reader.h"
#include "tests/wheel/zip_builder.h"

namespace {

using namespace axle::wheel;
using namespace axle::wheel::testing;

using Contents = std::vector<std::pair<std::string, std::string>>;

Contents read_all(const ZipReader& reader) {
  Contents contents;
  for (const ZipEntry& entry : reader.entries()) {
    auto text = reader.read_text(entry, 1ULL << 30);
    REQUIRE_MESSAGE(text.has_value(), text.error().message);
    contents.emplace_back(entry.name, std::move(*text));
  }
  return contents;
}

/// Both ways of opening give the same contents as libarchive.
ZipReader check_accepted(const std::string& bytes) {
  auto reader = ZipReader::open(memory_source(bytes), "good.whl");
  REQUIRE_MESSAGE(reader.has_value(), reader.error().message);
  const Contents contents = read_all(*reader);
  const SecondOpinion second = read_with_libarchive(bytes);
  CHECK(second.error == "");
  CHECK(second.members == contents);
  const auto lazy = ZipReader::open_directory(memory_source(bytes), "good.whl");
  REQUIRE_MESSAGE(lazy.has_value(), lazy.error().message);
  CHECK(read_all(*lazy) == contents);
  return std::move(*reader);
}

/// Counts what is read, as a source over a network would.
class CountingSource final : public ByteSource {
 public:
  CountingSource(std::string_view bytes, std::vector<std::uint64_t>& reads)
      : memory_(memory_source(bytes)), reads_(reads) {}
  [[nodiscard]] std::uint64_t size() const override { return memory_->size(); }
  axle::Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    reads_.push_back(offset);
    return memory_->read(offset, out);
  }

 private:
  std::unique_ptr<ByteSource> memory_;
  std::vector<std::uint64_t>& reads_;
};

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 1;
  for (char& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>("axle wheels turn"[state >> 28]);
  }
  return text;
}

}  // namespace

TEST_CASE("stored and deflated entries of every size around the chunk are read") {
  constexpr std::size_t chunk = 256U << 10;
  std::vector<Member> members;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{2}, chunk - 1, chunk,
                                 chunk + 1, 3 * chunk, 5 * chunk + 17}) {
    for (const std::uint16_t method : {std::uint16_t{0}, std::uint16_t{8}}) {
      members.push_back({.name = "m" + std::to_string(method) + "/" + std::to_string(size),
                         .content = pattern(size),
                         .method = method});
    }
  }
  const std::string bytes = build_zip(members);  // the reader looks into it
  const ZipReader reader = check_accepted(bytes);
  REQUIRE(reader.entries().size() == members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    CHECK(reader.entries()[i].size == members[i].content.size());
    CHECK(*reader.read_text(reader.entries()[i], 1ULL << 30) == members[i].content);
  }
}

TEST_CASE("content comes in chunks of bounded size") {
  const std::string text = pattern(2U << 20);
  const std::string bytes =
      build_zip({{.name = "a", .content = text}, {.name = "b", .content = text, .method = 8}});
  const auto reader = ZipReader::open(memory_source(bytes), "good.whl");
  REQUIRE(reader.has_value());
  for (const ZipEntry& entry : reader->entries()) {
    std::string read;
    std::size_t largest = 0;
    const auto done = reader->read(entry, [&](std::span<const std::byte> chunk) {
      largest = std::max(largest, chunk.size());
      read.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
      return axle::Result<void>{};
    });
    REQUIRE(done.has_value());
    CHECK(read == text);
    CHECK(largest <= (256U << 10));
  }
}

TEST_CASE("a sink that fails stops the reading with its own error") {
  const std::string bytes = build_zip({{.name = "a", .content = pattern(1U << 20), .method = 8}});
  const auto reader = ZipReader::open(memory_source(bytes), "good.whl");
  REQUIRE(reader.has_value());
  int calls = 0;
  const auto done =
      reader->read(reader->entries()[0], [&](std::span<const std::byte>) -> axle::Result<void> {
        ++calls;
        return axle::fail(axle::ErrorKind::io, "disk full");
      });
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().message == "disk full");
  CHECK(calls == 1);
}

TEST_CASE("folders, modes and names beyond ASCII are understood") {
  const ZipReader reader = check_accepted(build_zip({
      {.name = "pkg/", .attributes = (040755U << 16) | 0x10},
      {.name = "deflated/", .method = 8, .attributes = 040755U << 16},
      {.name = "pkg/run.sh", .content = "#!/bin/sh\n", .attributes = 0100755U << 16},
      {.name = "pkg/plain", .content = "x", .attributes = 0},
      {.name = "pkg/bare_mode", .content = "x", .attributes = 0644U << 16},
      {.name = "pkg/\xC3\xA4\xE2\x82\xAC.py", .content = "x", .flags = 1U << 11},
      {.name = "PKG2/A", .content = "x"},
      {.name = "pkg2/b", .content = "x"},
  }));
  const auto& entries = reader.entries();
  CHECK(entries[0].directory);
  CHECK(entries[1].directory);
  CHECK(entries[2].executable);
  CHECK_FALSE(entries[3].executable);
  CHECK_FALSE(entries[4].executable);
  CHECK_FALSE(entries[4].directory);
  CHECK(entries[5].name == "pkg/\xC3\xA4\xE2\x82\xAC.py");
  CHECK(reader.find("pkg/plain") == &entries[3]);
  CHECK(reader.find("pkg/") == &entries[0]);
  CHECK(reader.find("pkg") == nullptr);
  CHECK(reader.find("zzz") == nullptr);
}

TEST_CASE("correct data descriptors are accepted in all four forms") {
  const std::string text = pattern(5000);
  std::vector<Member> members;
  for (const Descriptor form : {Descriptor::plain, Descriptor::with_signature,
                                Descriptor::plain_wide, Descriptor::with_signature_wide}) {
    const std::string number = std::to_string(members.size());
    members.push_back(
        {.name = "deflated" + number, .content = text, .method = 8, .descriptor = form});
    members.push_back({.name = "stored" + number, .content = "short", .descriptor = form});
    members.push_back({.name = "empty" + number, .descriptor = form});
  }
  const std::string bytes = build_zip(members);
  const auto reader = ZipReader::open(memory_source(bytes), "good.whl");
  REQUIRE_MESSAGE(reader.has_value(), reader.error().message);
  for (std::size_t i = 0; i < members.size(); ++i) {
    CHECK(*reader->read_text(reader->entries()[i], 1U << 20) == members[i].content);
  }
}

TEST_CASE("extra fields of other tools, comments and Zip64 blocks are taken") {
  const std::string timestamp = extra_block(0x5455, std::string("\3\0\0\0\0\0\0\0\0", 9));
  const std::string owner = extra_block(0x7875, "\1\4\0\0\0\0\4\0\0\0\0");
  const std::string both = little_endian(7, 8) + little_endian(7, 8);
  check_accepted(build_zip(
      {
          {.name = "a.py",
           .content = "content",
           .local_extra = timestamp + owner,
           .central_extra = timestamp,
           .comment = "made by hand"},
          {.name = "forced.py",
           .content = "content",
           .version_needed = 45,
           .local_extra = extra_block(1, both),
           .local_packed_size = 0xFFFFFFFF,
           .local_size = 0xFFFFFFFF},
          {.name = "central.py",
           .content = "content",
           .central_extra = extra_block(1, both),
           .central_packed_size = 0xFFFFFFFF,
           .central_size = 0xFFFFFFFF},
          {.name = "repeated.py", .content = "content", .central_extra = extra_block(1, both)},
          {.name = "name.py",
           .content = "content",
           .central_extra = extra_block(0x7075, std::string("\1\0\0\0\0name.py", 12))},
      },
      {.comment = "an archive comment"}));
  check_accepted(build_zip({{.name = "a.py", .content = "x"}}, {.zip64_end = true}));
  check_accepted(
      build_zip({{.name = "a.py", .content = "x"}}, {.zip64_end = true, .zip64_exact = true}));
}

TEST_CASE("an archive without entries is one") {
  const std::string bytes = build_zip({});
  const auto reader = ZipReader::open(memory_source(bytes), "good.whl");
  REQUIRE(reader.has_value());
  CHECK(reader->entries().empty());
}

TEST_CASE("a range reader touches the end first and then only the entry it wants") {
  std::vector<Member> members;
  members.push_back({.name = "big.bin", .content = pattern(600000)});
  members.push_back({.name = "demo.dist-info/METADATA", .content = "Name: demo\n", .method = 8});
  members.push_back({.name = "other.bin", .content = pattern(600000)});
  const std::string bytes = build_zip(members);
  std::vector<std::uint64_t> reads;
  const auto reader = ZipReader::open_directory(std::make_unique<CountingSource>(bytes, reads),
                                                "https://host/good.whl");
  REQUIRE(reader.has_value());
  CHECK(reads.size() == 2);
  for (const std::uint64_t offset : reads) CHECK(offset > bytes.size() - 70000);
  reads.clear();
  const ZipEntry* entry = reader->find("demo.dist-info/METADATA");
  REQUIRE(entry != nullptr);
  CHECK(*reader->read_text(*entry, 100) == "Name: demo\n");
  CHECK(reads == std::vector<std::uint64_t>{entry->header_offset});
}

TEST_CASE("a range reader checks the local header of what it reads") {
  Member lie{.name = "a.py", .content = "content", .local_name = "b.py"};
  const std::string bytes = build_zip({lie, {.name = "c.py", .content = "content"}});
  const auto reader = ZipReader::open_directory(memory_source(bytes), "evil.whl");
  REQUIRE(reader.has_value());
  CHECK(reader->read_text(reader->entries()[1], 100).has_value());
  const auto text = reader->read_text(reader->entries()[0], 100);
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().message.find("another name") != std::string::npos);
}

TEST_CASE("read_text refuses more than the limit before it reads") {
  const std::string bytes = build_zip({{.name = "a.py", .content = "four"}});
  std::vector<std::uint64_t> reads;
  const auto reader = ZipReader::open(std::make_unique<CountingSource>(bytes, reads), "good.whl");
  REQUIRE(reader.has_value());
  reads.clear();
  const auto text = reader->read_text(reader->entries()[0], 3);
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().message.find("more than the 3 allowed") != std::string::npos);
  CHECK(reads.empty());
  CHECK(*reader->read_text(reader->entries()[0], 4) == "four");
}

TEST_CASE("files are opened, and what is not a file is refused") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("axle-zip-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "a.whl").string();
  std::ofstream(path, std::ios::binary) << build_zip({{.name = "a.py", .content = "content"}});
  {
    auto source = open_file_source(path);
    REQUIRE(source.has_value());
    const auto reader = ZipReader::open(std::move(*source), path);
    REQUIRE_MESSAGE(reader.has_value(), reader.error().message);
    CHECK(*reader->read_text(reader->entries()[0], 100) == "content");
    // What is cut off while it is open is an error of input, not a crash.
    std::filesystem::resize_file(path, 10);
    const auto cut = reader->read_text(reader->entries()[0], 100);
    REQUIRE_FALSE(cut.has_value());
    CHECK(cut.error().kind == axle::ErrorKind::io);
  }
  CHECK(open_file_source((folder / "absent.whl").string()).error().kind ==
        axle::ErrorKind::not_found);
  CHECK(open_file_source(folder.string()).error().kind == axle::ErrorKind::io);
  std::filesystem::remove_all(folder);
}

TEST_CASE("an archive of more than four gigabytes is read through its Zip64 records") {
  // A sparse file: 4.1 GiB of zeros stored in one member, then a small member beyond 32 bits.
  const auto folder =
      std::filesystem::temp_directory_path() / ("axle-zip64-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "large.whl").string();
  const std::uint64_t large = (4ULL << 30) + (100ULL << 20);
  const std::string large_extra = extra_block(1, little_endian(large, 8) + little_endian(large, 8));
  const auto header = [](std::string_view name, std::string_view extra, std::uint32_t crc,
                         std::uint32_t size) {
    return "PK\x03\x04" + little_endian(45, 2) + std::string(8, '\0') + little_endian(crc, 4) +
           little_endian(size, 4) + little_endian(size, 4) + little_endian(name.size(), 2) +
           little_endian(extra.size(), 2) + std::string(name) + std::string(extra);
  };
  const auto central = [](std::string_view name, std::string_view extra, std::uint32_t crc,
                          std::uint32_t size, std::uint32_t offset) {
    return "PK\x01\x02" + little_endian((3U << 8) | 45U, 2) + little_endian(45, 2) +
           std::string(8, '\0') + little_endian(crc, 4) + little_endian(size, 4) +
           little_endian(size, 4) + little_endian(name.size(), 2) + little_endian(extra.size(), 2) +
           std::string(6, '\0') + little_endian(0100644U << 16, 4) + little_endian(offset, 4) +
           std::string(name) + std::string(extra);
  };
  const std::string first = header("large.bin", large_extra, 0, 0xFFFFFFFF);
  const std::uint64_t second_offset = first.size() + large;
  const std::uint32_t tail_crc = 0x8587D865;  // of "abcde"
  const std::string second = header("tail.txt", "", tail_crc, 5) + "abcde";
  const std::uint64_t directory = second_offset + second.size();
  const std::string records =
      central("large.bin", large_extra, 0, 0xFFFFFFFF, 0) +
      central("tail.txt", extra_block(1, little_endian(second_offset, 8)), tail_crc, 5, 0xFFFFFFFF);
  const std::string end =
      "PK\x06\x06" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
      std::string(8, '\0') + little_endian(2, 8) + little_endian(2, 8) +
      little_endian(records.size(), 8) + little_endian(directory, 8) + "PK\x06\x07" +
      std::string(4, '\0') + little_endian(directory + records.size(), 8) + little_endian(1, 4) +
      "PK\x05\x06" + std::string(4, '\0') + little_endian(2, 2) + little_endian(2, 2) +
      little_endian(records.size(), 4) + little_endian(0xFFFFFFFF, 4) + std::string(2, '\0');
  {
    std::ofstream file(path, std::ios::binary);
    file << first;
    file.seekp(static_cast<std::streamoff>(second_offset));
    file << second << records << end;
  }
  auto source = open_file_source(path);
  REQUIRE(source.has_value());
  const auto reader = ZipReader::open(std::move(*source), path);
  REQUIRE_MESSAGE(reader.has_value(), reader.error().message);
  CHECK(reader->entries()[0].size == large);
  CHECK(reader->entries()[1].header_offset == second_offset);
  CHECK(*reader->read_text(reader->entries()[1], 100) == "abcde");
  std::filesystem::remove_all(folder);
}
