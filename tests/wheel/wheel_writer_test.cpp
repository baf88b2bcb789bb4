#include "wheel/wheel_writer.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/wheel/second_reader.h"
#include "wheel/hash/sha256.h"
#include "wheel/record.h"
#include "wheel/zip/zip_format.h"
#include "wheel/zip/zip_reader.h"

namespace {

using namespace axle::wheel;

std::vector<WheelMember> sample() {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "value " + std::to_string(i % 7) + "\n";
  return {{"demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n", false},
          {"demo-1.0.dist-info/METADATA", "Name: demo\n", false},
          {"demo/run.sh", "#!/bin/sh\n", true},
          {"demo/__init__.py", text, false},
          {"demo/empty.py", "", false},
          {"demo/\xC3\xA4.py", "x", false}};
}

std::uint32_t number_at(const std::string& bytes, std::size_t offset, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t i = width; i > 0; --i) {
    value = (value << 8) | static_cast<unsigned char>(bytes[offset + i - 1]);
  }
  return value;
}

}  // namespace

TEST_CASE("what the writer writes, our reader and libarchive read back") {
  const auto members = sample();
  const auto bytes = write_zip(members, 1'700'000'000);
  REQUIRE(bytes.has_value());
  const auto reader = ZipReader::open(memory_source(*bytes), "demo.whl");
  REQUIRE_MESSAGE(reader.has_value(), reader.error().message);
  const auto second = axle::wheel::testing::read_with_libarchive(*bytes);
  CHECK(second.error == "");
  REQUIRE(reader->entries().size() == members.size());
  REQUIRE(second.members.size() == members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ZipEntry& entry = reader->entries()[i];
    CHECK(entry.name == members[i].path);
    CHECK(entry.executable == members[i].executable);
    CHECK(*reader->read_text(entry, 1U << 20) == members[i].content);
    CHECK(second.members[i].first == members[i].path);
    CHECK(second.members[i].second == members[i].content);
  }
}

TEST_CASE("the writer leaves nothing that upload checks refuse") {
  const auto bytes = write_zip(sample(), 1'700'000'000);
  REQUIRE(bytes.has_value());
  const auto reader = ZipReader::open(memory_source(*bytes), "demo.whl");
  REQUIRE(reader.has_value());
  std::size_t central = bytes->find("PK\x01\x02");
  for (const ZipEntry& entry : reader->entries()) {
    const bool ascii = entry.name.find('\xC3') == std::string::npos;
    CHECK(entry.flags == (ascii ? 0 : zip::flag_utf8));
    CHECK(entry.data_offset == entry.header_offset + zip::local_size + entry.name.size());
    CHECK(entry.record_end == entry.data_offset + entry.compressed_size);
    CHECK(number_at(*bytes, central + 30, 2) == 0);  // extra field
    CHECK(number_at(*bytes, central + 32, 2) == 0);  // comment
    const std::uint32_t mode = number_at(*bytes, central + 38, 4) >> 16;
    CHECK(mode == (entry.executable ? 0100755U : 0100644U));
    central += zip::central_size + entry.name.size();
  }
}

TEST_CASE("the same members give the same bytes, whatever their order in a wheel") {
  auto members = sample();
  const auto first = write_wheel(members, "demo-1.0.dist-info", 1'700'000'000);
  std::swap(members[0], members[4]);
  std::swap(members[1], members[3]);
  const auto second = write_wheel(members, "demo-1.0.dist-info", 1'700'000'000);
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(*first == *second);
  const auto later = write_wheel(members, "demo-1.0.dist-info", 1'700'000'002);
  REQUIRE(later.has_value());
  CHECK(*later != *first);
}

TEST_CASE("a wheel has its metadata last and a correct RECORD") {
  const auto bytes = write_wheel(sample(), "demo-1.0.dist-info", 0);
  REQUIRE(bytes.has_value());
  const auto reader = ZipReader::open(memory_source(*bytes), "demo.whl");
  REQUIRE(reader.has_value());
  std::vector<std::string> names;
  for (const ZipEntry& entry : reader->entries()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"demo/__init__.py", "demo/empty.py", "demo/run.sh",
                                          "demo/\xC3\xA4.py", "demo-1.0.dist-info/METADATA",
                                          "demo-1.0.dist-info/WHEEL", "demo-1.0.dist-info/RECORD"});
  const auto text = reader->read_text(reader->entries().back(), 1U << 20);
  const auto record = parse_record(*text, "RECORD");
  REQUIRE(record.has_value());
  REQUIRE(record->size() == names.size());
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    const std::string content = *reader->read_text(reader->entries()[i], 1U << 20);
    CHECK((*record)[i] ==
          RecordEntry{names[i], render_base64(sha256(content)), content.size(), ""});
  }
  CHECK(record->back() == RecordEntry{names.back(), {}, std::nullopt, ""});
}

TEST_CASE("time stamps are those of the zip format and clamped to its years") {
  struct Moment {
    std::uint64_t unix_time;
    std::uint32_t dos;
  };
  // date in the upper half: year-1980, month, day; time in the lower: hour, minute, second/2
  const Moment moments[] = {
      {0, 0x00210000},                                               // 1980-01-01
      {315532800, 0x00210000},                                       // 1980-01-01
      {951782399, (20U << 25) | (2U << 21) | (28U << 16) | 0xBF7D},  // 2000-02-28 23:59:59
      {951868800 - 86400, (20U << 25) | (2U << 21) | (29U << 16)},   // 2000-02-29
      {1700000000, (43U << 25) | (11U << 21) | (14U << 16) | (22U << 11) | (13U << 5) | 10U},
      {9999999999, (127U << 25) | (12U << 21) | (31U << 16) | 0xBF7D},  // 2107-12-31
  };
  for (const Moment& moment : moments) {
    CAPTURE(moment.unix_time);
    const auto bytes = write_zip({{"a", "x", false}}, moment.unix_time);
    REQUIRE(bytes.has_value());
    CHECK(number_at(*bytes, 10, 4) == moment.dos);
  }
}

TEST_CASE("the writer refuses paths that the reader would refuse") {
  for (const char* path : {"../x", "/x", "a\\b", "a//b", "", "a\nb", "folder/", "c:x"}) {
    CAPTURE(path);
    const auto bytes = write_zip({{path, "x", false}}, 0);
    REQUIRE_FALSE(bytes.has_value());
    CHECK(bytes.error().kind == axle::ErrorKind::malformed);
  }
  CHECK_FALSE(write_zip({{"a", "x", false}, {"a", "y", false}}, 0).has_value());
  CHECK_FALSE(write_zip({{"a", "x", false}, {"A", "y", false}}, 0).has_value());
  CHECK_FALSE(write_zip({{"a", "x", false}, {"a/b", "y", false}}, 0).has_value());
  CHECK_FALSE(write_wheel({{"d.dist-info/RECORD", "", false}}, "d.dist-info", 0).has_value());
}

TEST_CASE("more files than a plain archive can list are refused by the writer") {
  std::vector<WheelMember> members;
  for (int i = 0; i < 65535; ++i) members.push_back({std::to_string(i), "", false});
  const auto bytes = write_zip(members, 0);
  REQUIRE_FALSE(bytes.has_value());
  CHECK(bytes.error().kind == axle::ErrorKind::unsupported);
  members.pop_back();
  const auto fits = write_zip(members, 0);
  REQUIRE(fits.has_value());
  const auto reader = ZipReader::open(memory_source(*fits), "many.whl");
  REQUIRE_MESSAGE(reader.has_value(), reader.error().message);
  CHECK(reader->entries().size() == 65534);
}
