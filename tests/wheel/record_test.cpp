#include "wheel/record.h"

#include <string>

#include <doctest/doctest.h>

#include "wheel/hash/sha256.h"

namespace {

using namespace axle::wheel;

const std::string hash = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";

}  // namespace

TEST_CASE("a RECORD is read as Python's csv module writes it") {
  const auto record = parse_record("a.py,sha256=" + hash +
                                       ",0\r\n\"b, \"\"c\"\".py\",,\n\n"
                                       "../../bin/tool,sha256=" +
                                       hash +
                                       ",12\n"
                                       "strong.py,sha512=whatever,7\n"
                                       "\"two\nlines.py\",,5\nd.dist-info/RECORD,,",
                                   "RECORD");
  REQUIRE_MESSAGE(record.has_value(), record.error().message);
  REQUIRE(record->size() == 6);
  CHECK((*record)[0] == RecordEntry{"a.py", hash, 0, ""});
  CHECK((*record)[1] == RecordEntry{"b, \"c\".py", "", std::nullopt, ""});
  CHECK((*record)[2] == RecordEntry{"../../bin/tool", hash, 12, ""});
  CHECK((*record)[3] == RecordEntry{"strong.py", "", 7, "sha512=whatever"});
  CHECK((*record)[4] == RecordEntry{"two\nlines.py", "", 5, ""});
  CHECK((*record)[5] == RecordEntry{"d.dist-info/RECORD", "", std::nullopt, ""});
}

TEST_CASE("an invalid RECORD is rejected with its line") {
  struct Case {
    std::string text;
    const char* message;
  };
  const Case cases[] = {
      {"a.py,,\nb.py\n", "RECORD: line 2: 1 fields instead of 3"},
      {"a.py,,,\n", "RECORD: line 1: 4 fields instead of 3"},
      {",,\n", "RECORD: line 1: an empty path"},
      {"\"a\nb\",,\nc,d,\n", "RECORD: line 3: a hash without an algorithm"},
      {"a,md5=x,\n", "line 1: the hash algorithm \"md5\", but sha256 or better is required"},
      {"a,sha256=x,\n", "not 43 digits"},
      {"a,sha256=" + hash + "=,\n", "not 43 digits"},
      {"a,sha256=" + hash.substr(1) + "+,\n", "not 43 digits"},
      {"a,,-1\n", "the size \"-1\" is not a number"},
      {"a,,1x\n", "the size \"1x\" is not a number"},
      {"a,,18446744073709551616\n", "is not a number"},
      {"\"a,,\n", "line 1: an unclosed quote"},
      {"\"a\"b,,\n", "line 1: text after a closing quote"},
      {std::string("a\0b,,\n", 6), "a path with a NUL byte"},
      {"\xFF,,\n", "RECORD: not UTF-8 text"},
  };
  for (const Case& bad : cases) {
    CAPTURE(bad.text);
    const auto record = parse_record(bad.text, "RECORD");
    REQUIRE_FALSE(record.has_value());
    CHECK(record.error().kind == axle::ErrorKind::malformed);
    CHECK_MESSAGE(record.error().message.find(bad.message) != std::string::npos,
                  record.error().message);
  }
}

TEST_CASE("what is rendered is read back") {
  const std::vector<RecordEntry> entries = {{"plain.py", hash, 5, ""},
                                            {"with, comma.py", hash, 6, ""},
                                            {"with \"quotes\".py", "", std::nullopt, ""},
                                            {"with\nnewline", "", 0, ""},
                                            {"strong.py", "", 7, "sha512=whatever"}};
  const std::string text = render_record(entries);
  CHECK(text.starts_with("plain.py,sha256=" + hash + ",5\n\"with, comma.py\","));
  const auto back = parse_record(text, "RECORD");
  REQUIRE(back.has_value());
  CHECK(*back == entries);
}

TEST_CASE("an empty RECORD has no entries") {
  CHECK(parse_record("", "RECORD")->empty());
  CHECK(parse_record("\n\r\n", "RECORD")->empty());
}

TEST_CASE("SHA-256 gives the digests of the standard in both spellings") {
  CHECK(render_hex(sha256("")) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(render_base64(sha256("")) == hash);
  CHECK(render_hex(sha256("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(render_hex(sha256(std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 in pieces equals SHA-256 at once") {
  const std::string text(100'000, 'q');
  Sha256 hasher;
  for (std::size_t at = 0; at < text.size(); at += 777) {
    hasher.update(
        std::as_bytes(std::span(text).subspan(at, std::min<std::size_t>(777, text.size() - at))));
  }
  CHECK(hasher.finish() == sha256(text));
}

TEST_CASE("of a malformed RECORD every path that can be read is salvaged") {
  const auto paths = [](const std::string& text) {
    std::string all;
    for (const RecordEntry& entry : salvage_record(text)) all += entry.path + " ";
    return all;
  };
  CHECK(paths("a.py,,\nb.py\nc.py,,,\n,,\nd.py,md5=x,\ne.py,,-1\nf.py,,\n") ==
        "a.py b.py c.py d.py e.py f.py ");
  CHECK(paths("a.py,,\n\"b.py\"c,,\nd.py,,\n") == "a.py d.py ");
  CHECK(paths("a.py,,\r\n\"b.py,,\r\nc.py,,\r\n") == "a.py c.py ");
  CHECK(paths("\"two\nlines\"x,,\nc.py,,") == "lines\"x c.py ");
  CHECK(paths("\xFF,,\nc.py,,\n") == "\xFF c.py ");
  CHECK(paths("\"").empty());
  const auto entries = salvage_record("a.py,sha256=" + hash + ",x\nb.py,sha256=" + hash + ",3\n");
  REQUIRE(entries.size() == 2);
  CHECK(entries[0] == RecordEntry{"a.py", "", std::nullopt, ""});
  CHECK(entries[1] == RecordEntry{"b.py", hash, 3, ""});
}
