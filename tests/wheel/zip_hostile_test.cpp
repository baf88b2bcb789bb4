// Archives that two readers could understand differently, or that hurt whoever unpacks them: each
// is refused before a byte of content is given out, and the message names the archive and the
// entry.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/wheel/zip_builder.h"
#include "wheel/zip/zip_reader.h"

namespace {

using namespace axle::wheel;
using namespace axle::wheel::testing;
using axle::ErrorKind;

struct Hostile {
  const char* what;
  std::string bytes;
  std::string message;  // part of it
  ErrorKind kind = ErrorKind::malformed;
};

void check_refused(const std::vector<Hostile>& cases) {
  for (const Hostile& hostile : cases) {
    CAPTURE(hostile.what);
    const auto reader = ZipReader::open(memory_source(hostile.bytes), "evil.whl");
    REQUIRE_FALSE(reader.has_value());
    CHECK(reader.error().kind == hostile.kind);
    CHECK_MESSAGE(reader.error().message.starts_with("evil.whl: "), reader.error().message);
    CHECK_MESSAGE(reader.error().message.find(hostile.message) != std::string::npos,
                  reader.error().message);
  }
}

Member file(std::string name, std::string content = "content") {
  return {.name = std::move(name), .content = std::move(content)};
}

Member deflated(std::string name, std::string content) {
  Member member = file(std::move(name), std::move(content));
  member.method = 8;
  return member;
}

template <class Change>
std::string lying(Change change) {
  Member member = file("pkg/lie.py");
  change(member);
  return build_zip({file("pkg/first.py"), member, file("pkg/last.py")});
}

std::string named(std::string name) {
  return build_zip({file("pkg/ok.py"), file(std::move(name))});
}

/// Its directory has room for a third record of an empty name.
std::string counted(Frame frame) {
  return build_zip({file("package/with_a_long_name_a.py"), file("package/with_a_long_name_b.py")},
                   frame);
}

std::string framed(Frame frame) { return build_zip({file("a.py"), file("b.py")}, frame); }

}  // namespace

TEST_CASE("names that leave the folder or confuse a file system are refused") {
  using namespace std::string_literals;
  check_refused({
      {"parent folder", named("../evil.py"), "entry \"../evil.py\" has a \"..\" part"},
      {"parent folder inside", named("pkg/../../evil.py"), "has a \"..\" part"},
      {"parent folder last", named("pkg/.."), "has a \"..\" part"},
      {"absolute", named("/etc/passwd"), "entry \"/etc/passwd\" is an absolute path"},
      {"backslash", named("..\\evil.py"), "has a backslash"},
      {"drive letter", named("C:evil.py"), "has a drive letter"},
      {"current folder", named("./evil.py"), "has a \".\" part"},
      {"double slash", named("pkg//evil.py"), "has an empty part"},
      {"only a slash", named("/"), "is an absolute path"},
      {"empty", named(""), "is empty"},
      {"NUL", named("evil\0.py"s), "entry \"evil\\x00.py\" has a control character"},
      {"newline", named("evil\n.py"), "has a control character"},
      {"delete", named("evil\x7f.py"), "has a control character"},
      {"C1 control", named("evil\xC2\x85.py"), "has a control character"},
      {"part too long", named(std::string(256, 'a')), "more than 255 bytes"},
      {"invalid UTF-8", named("evil\xFF.py"), "is not valid UTF-8"},
      {"overlong slash", named("a\xC0\xAFz"), "is not valid UTF-8"},
      {"UTF-8 without its flag", named("p\xC3\xA4.py"), "not marked as UTF-8"},
  });
}

TEST_CASE("names that cannot coexist are rejected") {
  check_refused({
      {"duplicate", build_zip({file("a.py", "1"), file("a.py", "2")}), "\"a.py\" is duplicated"},
      {"duplicate, same content", build_zip({file("a.py"), file("b.py"), file("a.py")}),
       "\"a.py\" is duplicated"},
      {"case", build_zip({file("pkg/A.py"), file("pkg/a.py")}), "differ in case only"},
      {"a final dot", build_zip({file("pkg/a.py"), file("pkg/a.py.")}), "cannot lie beside"},
      {"final blanks", build_zip({file("pkg/A.py"), file("pkg/a.py . ")}), "cannot lie beside"},
      {"a final dot of a folder", build_zip({file("pkg/a.py"), file("pkg./a.py")}),
       "cannot lie beside"},
      {"below a file", build_zip({file("pkg/a"), file("pkg/a/b.py")}), "a folder or below it"},
      {"above a file", build_zip({file("pkg/a/b.py"), file("pkg/a")}), "a folder or below it"},
      {"far below a file", build_zip({file("pkg"), file("pkg-2"), file("pkg/x/y/z.py")}),
       "a folder or below it"},
      {"below a file in another case", build_zip({file("PKG"), file("pkg/x.py")}),
       "a folder or below it"},
      {"file and folder", build_zip({file("pkg"), {.name = "pkg/", .attributes = 040755U << 16}}),
       "a folder or below it"},
  });
}

TEST_CASE("links, devices and modes that contradict the name are refused") {
  const auto with_mode = [](std::uint32_t mode, std::string name = "pkg/x") {
    Member member = file(std::move(name), mode == 0120777 ? "/etc" : "");
    member.attributes = mode << 16;
    return build_zip({file("pkg/first.py"), member});
  };
  check_refused({
      {"link", with_mode(0120777), "entry \"pkg/x\" is neither a file nor a folder"},
      {"FIFO", with_mode(0010644), "is neither a file nor a folder"},
      {"character device", with_mode(0020644), "is neither a file nor a folder"},
      {"block device", with_mode(0060644), "is neither a file nor a folder"},
      {"socket", with_mode(0140644), "is neither a file nor a folder"},
      {"folder without slash", with_mode(0040755), "a folder according to its mode"},
      {"file with slash", with_mode(0100644, "pkg/x/"), "a file according to its mode"},
      {"DOS folder without slash", lying([](Member& m) { m.attributes = 0x10; }),
       "a folder according to its mode"},
      {"is a folder but has content",
       build_zip({{.name = "pkg/", .content = "x", .attributes = 040755U << 16}}),
       "is a folder but has content"},
  });
}

TEST_CASE("encrypted, patched and unknown kinds of entries are refused") {
  check_refused({
      {"encrypted", lying([](Member& m) { m.flags = 1; }), "\"pkg/lie.py\" is encrypted"},
      {"strongly encrypted", lying([](Member& m) { m.flags = 1 << 6; }), "is encrypted"},
      {"masked", lying([](Member& m) { m.flags = 1 << 13; }), "is encrypted"},
      {"patch", lying([](Member& m) { m.flags = 1 << 5; }), "is a patch"},
      {"unknown flag", lying([](Member& m) { m.flags = 1 << 15; }), "unknown flags"},
      {"LZMA", lying([](Member& m) { m.method = 14; }), "method 14", ErrorKind::unsupported},
      {"Deflate64", lying([](Member& m) { m.method = 9; }), "method 9", ErrorKind::unsupported},
      {"newer format", lying([](Member& m) { m.version_needed = 90; }), "newer zip format",
       ErrorKind::unsupported},
  });
}

TEST_CASE("a local header that contradicts the directory is refused") {
  check_refused({
      {"name", lying([](Member& m) { m.local_name = "pkg/evi.py"; }), "another name"},
      {"longer name", lying([](Member& m) { m.local_name = "pkg/lie.py.py"; }), "\"pkg/lie.py\""},
      {"checksum", lying([](Member& m) { m.local_crc = 1; }), "another checksum"},
      {"size", lying([](Member& m) { m.local_size = 3; }), "another size"},
      {"compressed size", lying([](Member& m) { m.local_packed_size = 3; }),
       "another compressed size"},
      {"method", lying([](Member& m) { m.local_method = 8; }), "another method"},
      {"flags", lying([](Member& m) { m.local_flags = 2; }), "another set of flags"},
      {"encryption in the local header only", lying([](Member& m) { m.local_flags = 1; }),
       "another set of flags"},
      {"second name in the local extra field", lying([](Member& m) {
         m.local_extra = extra_block(0x7075, std::string("\1\0\0\0\0evil.py", 12));
       }),
       "a second name"},
      {"local extra field cut off", lying([](Member& m) { m.local_extra = "\x55\x54\x09"; }),
       "a truncated extra field"},
      {"no local header", lying([](Member& m) { m.offset = 37 + 12 + 1; }), "entry"},
  });
}

TEST_CASE("bytes that belong to no entry are refused") {
  const std::string whole = framed({});
  check_refused({
      {"before the archive", framed({.before = "#!/bin/sh\n"}), "10 bytes before the first entry"},
      {"before the archive, offsets unaware", "#!/bin/sh\n" + whole,
       "there are bytes before the archive"},
      {"after the end", framed({.after_end = "x"}), "1 bytes after the end"},
      {"NULs after the end", framed({.after_end = std::string(1000, '\0')}),
       "1000 bytes after the end"},
      {"comment, then garbage", framed({.after_end = "x", .comment = "hello"}),
       "1 bytes after the end"},
      {"comment cut off", framed({.comment = "hello"}).substr(0, whole.size() + 3),
       "truncated inside the archive comment"},
      {"between entries",
       build_zip({file("a.py"), {.name = "b.py", .content = "x", .gap = "hidden"}}),
       "entry \"a.py\" is followed by bytes that belong to no entry"},
      {"much between entries",
       build_zip({file("a.py"), {.name = "b.py", .gap = std::string(70000, 'x')}}),
       "entry \"a.py\" is followed by bytes that belong to no entry"},
      {"before the directory", framed({.before_directory = "hidden"}),
       "entry \"b.py\" is followed by bytes that belong to no entry"},
      {"after the directory", framed({.after_directory = "hidden"}), "the directory"},
      {"a local entry that the directory does not list",
       build_zip(
           {file("a.py"), {.name = "b.py", .content = "x", .in_directory = false}, file("c.py")}),
       "entry \"a.py\" is followed by bytes that belong to no entry"},
      {"two archives", whole + framed({}), "before the archive"},
      {"the end record twice", whole + whole.substr(whole.size() - 22), "two end records"},
      {"an end record as comment", framed({.comment = build_zip({})}), "the directory"},
      {"the signature of one at the end of the comment", framed({.comment = "PK\5\6"}),
       "in the archive comment"},
      {"an entry in the comment", framed({.comment = "see PK\3\4 and on"}),
       "in the archive comment"},
  });
}

TEST_CASE("an end record with a wrong directory is rejected") {
  check_refused({
      {"empty file", "", "too short"},
      {"no zip", std::string(100, 'x'), "no end record"},
      {"more entries", counted({.entries = 3}), "directory record 3 is damaged"},
      {"fewer entries", framed({.entries = 1}), "in the directory after its 1 entries"},
      {"impossible count", framed({.entries = 60000}), "cannot hold 60000 entries"},
      {"another disk", framed({.disk = 1}), "multi-part"},
      {"directory elsewhere", framed({.directory_offset = 3}), "places the directory at 3"},
      {"directory too long", framed({.directory_size = 100000}), "places the directory"},
      {"Zip64 contradicts",
       framed({.zip64_end = true, .zip64_exact = true, .zip64_entries_lie = 1}),
       "contradict each other"},
      {"Zip64 lies about the count", counted({.zip64_end = true, .zip64_entries_lie = 1}),
       "directory record 3 is damaged"},
  });
}

TEST_CASE("entries that overlap are refused") {
  const auto overlapping = [](std::uint32_t offset) {
    Member second = file("b.py", "second");
    second.offset = offset;
    return build_zip({file("a.py", "first"), second});
  };
  check_refused({
      {"the same record twice", overlapping(0), "overlaps"},
      {"from the middle of another", overlapping(10), "overlaps"},
      {"into the directory",
       build_zip({{.name = "a.py", .content = "x", .packed_size = 5000, .size = 5000}}),
       "overlaps"},
      {"behind the directory", overlapping(60000), "overlaps"},
  });
}

TEST_CASE("a bomb is refused by its directory alone") {
  Member bomb = deflated("pkg/bomb.bin", std::string(4U << 20, '\0'));
  bomb.size = 0x7FFFFFFF;
  Member honest = deflated("pkg/zeros.bin", std::string(80U << 20, '\0'));
  check_refused({
      {"impossible ratio", build_zip({bomb}), "entry \"pkg/bomb.bin\" unpacks"},
      {"honest ratio of a thousand", build_zip({honest}), "a zip bomb"},
      {"stored with two sizes", lying([](Member& m) { m.size = 100; }),
       "is stored but has two different sizes"},
      {"deflated to nothing", lying([](Member& m) {
         m.method = 8;
         m.packed = "";
       }),
       "is deflated to nothing"},
  });
  const ZipLimits small{.max_total_size = 10};
  const std::string two = build_zip({file("a.py", "sixsix"), file("b.py", "sixsix")});
  const auto reader = ZipReader::open(memory_source(two), "evil.whl", small);
  REQUIRE_FALSE(reader.has_value());
  CHECK(reader.error().message ==
        "evil.whl: entry \"b.py\" makes the unpacked archive larger than 10 bytes");
}

TEST_CASE("Zip64 blocks that are missing, doubled or contradict are refused") {
  const std::string sizes = little_endian(7, 8) + little_endian(7, 8);
  check_refused({
      {"missing in the directory", lying([](Member& m) { m.central_size = 0xFFFFFFFF; }),
       "no Zip64 block"},
      {"missing in the local header", lying([](Member& m) {
         m.local_size = 0xFFFFFFFF;
         m.local_packed_size = 0xFFFFFFFF;
       }),
       "no Zip64 block"},
      {"too short in the directory", lying([](Member& m) {
         m.central_size = 0xFFFFFFFF;
         m.central_extra = extra_block(1, "1234");
       }),
       "too short"},
      {"too long in the directory", lying([&](Member& m) {
         m.central_size = 0xFFFFFFFF;
         m.central_extra = extra_block(1, sizes + sizes + sizes);
       }),
       "Zip64 block"},
      {"twice",
       lying([&](Member& m) { m.central_extra = extra_block(1, sizes) + extra_block(1, sizes); }),
       "two Zip64 blocks"},
      {"repeats another size in the directory", lying([&](Member& m) {
         m.central_extra = extra_block(1, little_endian(8, 8) + little_endian(7, 8));
       }),
       "contradicts its record"},
      {"another size in the local header", lying([&](Member& m) {
         m.local_size = 0xFFFFFFFF;
         m.local_packed_size = 0xFFFFFFFF;
         m.local_extra = extra_block(1, little_endian(8, 8) + little_endian(8, 8));
       }),
       "another compressed size"},
      {"a second opinion in the local header", lying([&](Member& m) {
         m.local_extra = extra_block(1, little_endian(9, 8) + little_endian(9, 8));
       }),
       "contradicts its header"},
      {"sizes of zero without a descriptor", lying([](Member& m) {
         m.local_packed_size = 0;
         m.local_size = 0;
         m.local_extra = extra_block(1, little_endian(7, 8) + little_endian(7, 8));
       }),
       "contradicts its header"},
  });
}

TEST_CASE("a data descriptor must agree with the directory to the byte") {
  check_refused({
      {"another size", lying([](Member& m) {
         m.descriptor = Descriptor::with_signature;
         m.descriptor_size = 8;
       }),
       "data descriptor that contradicts"},
      {"missing", lying([](Member& m) {
         m.flags = 8;
         m.local_crc = 0;
       }),
       "no data descriptor"},
      {"flagged in the directory only", lying([](Member& m) {
         m.descriptor = Descriptor::plain;
         m.local_flags = 0;
       }),
       "another set of flags"},
      {"unflagged", lying([](Member& m) {
         m.packed = "contentPK\7\b1234567812345678";
         m.packed_size = 7;
       }),
       "bytes that belong to no entry"},
      {"half truths in the local header", lying([](Member& m) {
         m.descriptor = Descriptor::with_signature;
         m.local_size = 5;
       }),
       "another size"},
  });
}

TEST_CASE("a descriptor inside stored content ends it for some readers") {
  const auto with = [](std::string content, Descriptor descriptor) {
    return build_zip({{.name = "a.bin", .content = std::move(content), .descriptor = descriptor}});
  };
  const auto read = [](const std::string& bytes) {
    const auto reader = ZipReader::open(memory_source(bytes), "evil.whl");
    REQUIRE(reader.has_value());
    const auto text = reader->read_text(reader->entries()[0], 1U << 20);
    return text ? std::string() : text.error().message;
  };
  constexpr std::size_t chunk = 256UL << 10;
  for (const std::size_t at : {std::size_t{0}, std::size_t{9}, chunk - 3, chunk - 1, chunk}) {
    const std::string content = std::string(at, 'x') + "PK\7\b" + std::string(20, 'y');
    CHECK(read(with(content, Descriptor::with_signature)).find("where it ends depends") !=
          std::string::npos);
    CHECK(read(with(content, Descriptor::none)).empty());
  }
  CHECK(read(with("xPK\7y\b", Descriptor::plain)).empty());
}

TEST_CASE("a second name in the extra field of the directory is refused") {
  check_refused({
      {"another name", lying([](Member& m) {
         m.central_extra = extra_block(0x7075, std::string("\1\0\0\0\0evil.py", 12));
       }),
       "a second name"},
      {"too short", lying([](Member& m) { m.central_extra = extra_block(0x7075, "x"); }),
       "a second name"},
      {"cut off", lying([](Member& m) { m.central_extra = "\x75\x70\xFF\xFF"; }), "truncated"},
  });
}

TEST_CASE("content that does not match the directory is always an error") {
  struct Lie {
    const char* what;
    Member member;
    const char* message;
  };
  const std::string text(1000, 'x');
  Member longer = deflated("x.bin", text);
  longer.size = 999;
  Member shorter = deflated("x.bin", text);
  shorter.size = 1001;
  Member summed = deflated("x.bin", text);
  summed.crc = 5;
  Member stored = file("x.bin", text);
  stored.crc = 5;
  Member trailing = deflated("x.bin", text);
  trailing.packed = deflate(text) + "y";
  Member trailing_many = deflated("x.bin", text);
  trailing_many.packed = deflate(text) + std::string(300, 'y');
  Member cut = deflated("x.bin", text);
  cut.packed = deflate(text).substr(0, 5);
  Member noise = deflated("x.bin", text);
  noise.packed = "\x07\xFF\xFF garbage";
  Member second = deflated("x.bin", text);
  second.packed = deflate(text) + deflate(text);
  const std::vector<Lie> lies = {{"longer", longer, "more than the 999 bytes"},
                                 {"shorter", shorter, "unpacks to 1000 bytes instead of 1001"},
                                 {"checksum", summed, "is damaged: its checksum"},
                                 {"checksum of stored", stored, "is damaged: its checksum"},
                                 {"a byte too many", trailing, "bytes after the end"},
                                 {"bytes too many", trailing_many, "bytes after the end"},
                                 {"two streams", second, "bytes after the end"},
                                 {"cut off", cut, "is damaged"},
                                 {"noise", noise, "not a deflate stream"}};
  for (const Lie& lie : lies) {
    CAPTURE(lie.what);
    const std::string bytes = build_zip({lie.member});
    const auto reader = ZipReader::open(memory_source(bytes), "evil.whl");
    REQUIRE_MESSAGE(reader.has_value(), reader.error().message);
    std::size_t given = 0;
    const auto read = reader->read(reader->entries()[0], [&](std::span<const std::byte> chunk) {
      given += chunk.size();
      return axle::Result<void>{};
    });
    REQUIRE_FALSE(read.has_value());
    CHECK_MESSAGE(read.error().message.starts_with("evil.whl: entry \"x.bin\" "),
                  read.error().message);
    CHECK_MESSAGE(read.error().message.find(lie.message) != std::string::npos,
                  read.error().message);
    CHECK(given <= reader->entries()[0].size);
  }
}
