#include "wheel/wheel_file.h"

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "wheel/hash/sha256.h"
#include "wheel/wheel_writer.h"

namespace {

/// Bytes that live as long as the wheel that is read from them.
class OwnedBytes final : public axle::wheel::ByteSource {
 public:
  explicit OwnedBytes(std::string_view bytes)
      : bytes_(bytes), source_(axle::wheel::memory_source(bytes_)) {}
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  [[nodiscard]] axle::Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    return source_->read(offset, out);
  }

 private:
  std::string bytes_;
  std::unique_ptr<axle::wheel::ByteSource> source_;
};

using namespace axle::wheel;
using axle::ErrorKind;

const std::string folder = "demo_pkg-1.0.dist-info";

std::string variant_json(const std::string& label) {
  return R"({"$schema": "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json",
  "default-priorities": {"namespace": ["x86_64"]},
  "providers": {"x86_64": {"requires": ["x86-64-variant-provider"]}},
  "variants": {")" +
         label + R"(": {"x86_64": {"level": ["v3"]}}}})";
}

std::vector<WheelMember> sample() {
  return {
      {"demo_pkg/__init__.py", "answer = 42\n", false},
      {folder + "/METADATA", "Metadata-Version: 2.1\nName: demo-pkg\nVersion: 1.0\n", false},
      {folder + "/WHEEL",
       "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n", false}};
}

axle::Result<WheelFile> open_bytes(const std::string& bytes, std::string_view name,
                                   bool directory_only = false) {
  axle::CollectedReport report;
  return open_wheel(std::make_unique<OwnedBytes>(bytes), name,
                    std::string("dist/") + std::string(name), report, directory_only);
}

/// Opens the sample after `change`.
axle::Result<WheelFile> open_changed(const std::function<void(std::vector<WheelMember>&)>& change,
                                     std::string_view name = "demo_pkg-1.0-py3-none-any.whl") {
  auto members = sample();
  change(members);
  const auto bytes = write_zip(members, 0);
  REQUIRE(bytes.has_value());
  return open_bytes(*bytes, name);
}

void check_refused(const axle::Result<WheelFile>& wheel, ErrorKind kind,
                   const std::string& message) {
  REQUIRE_FALSE(wheel.has_value());
  CHECK(wheel.error().kind == kind);
  CHECK_MESSAGE(wheel.error().message.starts_with("dist/demo_pkg-1.0-"), wheel.error().message);
  CHECK_MESSAGE(wheel.error().message.find(message) != std::string::npos, wheel.error().message);
}

constexpr std::string_view labelled = "demo_pkg-1.0-py3-none-any-v3.whl";

}  // namespace

TEST_CASE("a plain wheel is opened with its metadata, by its file and by its directory") {
  const auto bytes = write_wheel(sample(), folder, 0);
  REQUIRE(bytes.has_value());
  for (const bool directory_only : {false, true}) {
    const auto wheel = open_bytes(*bytes, "demo_pkg-1.0-py3-none-any.whl", directory_only);
    REQUIRE_MESSAGE(wheel.has_value(), wheel.error().message);
    CHECK(wheel->dist_info == folder);
    CHECK(wheel->metadata.name == "demo-pkg");
    CHECK(wheel->purelib);
    CHECK_FALSE(wheel->variant.has_value());
    const auto record = read_checked_record(*wheel);
    REQUIRE_MESSAGE(record.has_value(), record.error().message);
    CHECK(record->size() == 4);
  }
}

TEST_CASE("names and versions may be spelled differently in file name, folder and METADATA") {
  const std::vector<WheelMember> members = {
      {"Demo.Pkg-1.0.0.dist-info/METADATA",
       "Metadata-Version: 2.1\nName: Demo_PKG\nVersion: 1.00\n", false},
      {"Demo.Pkg-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.9\r\nroot-is-purelib: FALSE\r\n",
       false}};
  const auto bytes = write_zip(members, 0);
  REQUIRE(bytes.has_value());
  axle::CollectedReport report;
  const auto wheel =
      open_wheel(memory_source(*bytes), "demo_pkg-1.0-py3-none-any.whl", "w", report);
  REQUIRE_MESSAGE(wheel.has_value(), wheel.error().message);
  CHECK_FALSE(wheel->purelib);
  REQUIRE(report.remarks.size() == 1);
  CHECK(report.remarks[0].message ==
        "w: Demo.Pkg-1.0.0.dist-info/WHEEL: Wheel-Version 1.9 is newer than 1.0");
}

TEST_CASE("a variant wheel has its variant.json, of its label alone") {
  const auto with = [](const std::string& json) {
    return [json](std::vector<WheelMember>& members) {
      members.push_back({folder + "/variant.json", json, false});
    };
  };
  const auto wheel = open_changed(with(variant_json("v3")), labelled);
  REQUIRE_MESSAGE(wheel.has_value(), wheel.error().message);
  REQUIRE(wheel->variant.has_value());
  CHECK(wheel->variant->variants.contains("v3"));
  check_refused(open_changed(with(variant_json("v4")), labelled), ErrorKind::mismatch,
                "variant.json: describes \"v4\", but the file name has only v3");
  check_refused(open_changed([](auto&) {}, labelled), ErrorKind::mismatch,
                "variant.json: missing, but the file name has the label v3");
  check_refused(open_changed(with(variant_json("v3"))), ErrorKind::mismatch,
                "variant.json: present, but the file name has no variant label");
  check_refused(open_changed(with("{}"), labelled), ErrorKind::malformed,
                "variant.json: the key \"$schema\" is missing");
  std::string two = variant_json("v3");
  two.insert(two.size() - 2, R"(, "v2": {"x86_64": {"level": ["v2"]}})");
  check_refused(open_changed(with(two), labelled), ErrorKind::mismatch,
                "describes \"v2, v3\", but the file name has only v3");
  std::string none = variant_json("null");
  none.replace(none.find(R"({"x86_64": {"level")"), std::string::npos, "{}}}");
  const auto null_wheel = open_changed(with(none), "demo_pkg-1.0-py3-none-any-null.whl");
  REQUIRE_MESSAGE(null_wheel.has_value(), null_wheel.error().message);
}

TEST_CASE("a wheel whose parts contradict each other is refused") {
  const auto replace = [](const std::string& file, const std::string& content) {
    return [file, content](std::vector<WheelMember>& members) {
      for (WheelMember& member : members) {
        if (member.path == folder + file) member.content = content;
      }
    };
  };
  const std::string wheel_file = "/WHEEL";
  check_refused(open_changed(replace(wheel_file, "Wheel-Version: 2.0\n")), ErrorKind::unsupported,
                "Wheel-Version 2.0 is not supported, only 1.0");
  check_refused(open_changed(replace(wheel_file, "Generator: x\n")), ErrorKind::malformed,
                "WHEEL: no Wheel-Version");
  check_refused(open_changed(replace(wheel_file, "Wheel-Version: one\n")), ErrorKind::malformed,
                "Wheel-Version \"one\" is not a valid version");
  check_refused(
      open_changed(replace("/METADATA", "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")),
      ErrorKind::mismatch, "METADATA: the name \"other\" differs from that of the file, demo_pkg");
  check_refused(
      open_changed(replace("/METADATA", "Metadata-Version: 2.1\nName: demo-pkg\nVersion: 1.1\n")),
      ErrorKind::mismatch, "METADATA: the version 1.1 differs from that of the file, 1.0");
  const auto drop = [](std::size_t index) {
    return [index](std::vector<WheelMember>& members) {
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(index));
    };
  };
  check_refused(open_changed(drop(1)), ErrorKind::malformed,
                "no \"demo_pkg-1.0.dist-info/METADATA\"");
  check_refused(open_changed(drop(2)), ErrorKind::malformed, "no \"demo_pkg-1.0.dist-info/WHEEL\"");
  check_refused(open_changed([](auto& members) { members.resize(1); }), ErrorKind::malformed,
                "none, but a wheel has one \".dist-info\" folder");
  check_refused(open_changed([](auto& members) {
                  members.push_back({"other-2.0.dist-info/METADATA", "x", false});
                }),
                ErrorKind::malformed, "2, but a wheel has one \".dist-info\" folder");
  check_refused(open_changed([](auto& members) {
                  for (WheelMember& member : members) {
                    if (member.path.starts_with(folder)) member.path[9] = '2';
                  }
                }),
                ErrorKind::mismatch,
                "the folder \"demo_pkg-2.0.dist-info\" has another name or version");
}

TEST_CASE("an invalid file name is rejected before the archive is read") {
  const auto wheel = open_bytes("", "demo.zip");
  REQUIRE_FALSE(wheel.has_value());
  CHECK(wheel.error().kind == ErrorKind::malformed);
}

TEST_CASE("a RECORD that does not list exactly the files of the archive is refused") {
  const std::string hash = "sha256=" + render_base64(sha256("answer = 42\n"));
  const std::string any = "sha256=" + render_base64(sha256(""));
  const std::string rest = folder + "/METADATA," + any + ",\n" + folder + "/WHEEL," + any + ",\n";
  const std::string self = folder + "/RECORD,,\n";
  struct Case {
    std::string record;
    ErrorKind kind;
    std::string message;
  };
  const Case cases[] = {
      {rest + self, ErrorKind::mismatch,
       "\"demo_pkg/__init__.py\" is in the archive, but not listed"},
      {rest + "demo_pkg/__init__.py," + hash + ",12\nghost.py," + hash + ",\n" + self,
       ErrorKind::mismatch, "\"ghost.py\" is listed, but not in the archive"},
      {rest + "demo_pkg/__init__.py," + hash + ",13\n" + self, ErrorKind::mismatch,
       "is listed with 13 bytes, but has 12"},
      {rest + "demo_pkg/__init__.py,,12\n" + self, ErrorKind::mismatch, "is listed without a hash"},
      {rest + "demo_pkg/__init__.py," + hash + ",12\n" + "demo_pkg/__init__.py," + hash + ",12\n" +
           self,
       ErrorKind::malformed, "\"demo_pkg/__init__.py\" is listed twice"},
      {rest + "../../../victim," + hash + ",12\n" + self, ErrorKind::mismatch,
       "\"../../../victim\" is listed, but not in the archive"},
      {"x\n", ErrorKind::malformed, "line 1: 1 fields instead of 3"},
  };
  const auto with_record = [](const std::string& record) {
    return open_changed([&](std::vector<WheelMember>& members) {
      members.push_back({folder + "/RECORD", record, false});
    });
  };
  for (const Case& bad : cases) {
    CAPTURE(bad.record);
    const auto wheel = with_record(bad.record);
    REQUIRE_MESSAGE(wheel.has_value(), wheel.error().message);
    const auto record = read_checked_record(*wheel);
    REQUIRE_FALSE(record.has_value());
    CHECK(record.error().kind == bad.kind);
    CHECK_MESSAGE(record.error().message.find(bad.message) != std::string::npos,
                  record.error().message);
  }
  const auto sound = with_record(rest + "demo_pkg/__init__.py," + hash + ",\n" + self);
  REQUIRE(sound.has_value());
  CHECK(read_checked_record(*sound).has_value());
  const auto missing = open_changed([](auto&) {});
  REQUIRE(missing.has_value());
  CHECK(read_checked_record(*missing).error().message.find(
            "no \"demo_pkg-1.0.dist-info/RECORD\"") != std::string::npos);
}
