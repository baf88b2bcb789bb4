#include "wheel/bundle/bundle_list.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace axle::wheel;

const std::string title = "# axle-bundle 1\n";
const std::string zeros(64, '0');
const std::string hash = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

/// The two lines of a file.
std::string of(const std::string& path, const std::string& size = "3",
               const std::string& digits = hash) {
  return "# " + size + " bytes\n" + digits + "  " + path + "\n";
}

}  // namespace

TEST_CASE("a list of a bundle has one spelling, which is read back") {
  const std::vector<BundleMember> members = {
      {"A", zeros, 0},
      {"a b", hash, 1},
      {"simple/demo/demo-1.0-py3-none-any.whl", hash, 1534},
      {"simple/demo/index.json", hash, std::numeric_limits<std::int64_t>::max()},
      {"simple/\xC3\xA9", zeros, 10}};
  const std::string text = render_bundle_list(members);
  CHECK(text.starts_with("# axle-bundle 1\n# 0 bytes\n" + zeros + "  A\n# 1 bytes\n" + hash +
                         "  a b\n# 1534 bytes\n"));
  CHECK(text.find("# 9223372036854775807 bytes\n") != std::string::npos);
  const auto read = parse_bundle_list(text, "list");
  REQUIRE_MESSAGE(read.has_value(), read.error().message);
  CHECK(*read == members);
  CHECK(render_bundle_list({}) == title);
  CHECK(parse_bundle_list(title, "list")->empty());
}

TEST_CASE("another spelling of a list is refused with its line") {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::string no_title = "1: the list of a bundle begins with the line \"# axle-bundle 1\"";
  const std::string no_size = "this is not the size of a file: \"# N bytes\"";
  const std::string no_file = "this is not the sha256 of a file, and its path";
  const Case cases[] = {
      {"", no_title},
      {"# axle-bundle 1", no_title},
      {"# axle-bundle 2\n", no_title},
      {"# axle-bundle 10\n", no_title},
      {" # axle-bundle 1\n", no_title},
      {"# axle-bundle 1 \n", no_title},
      {"# axle-bundle 1\r\n", no_title},
      {"\xEF\xBB\xBF# axle-bundle 1\n", no_title},
      {"\n" + title, no_title},
      {of("a"), no_title},
      {title + "\n", "2: " + no_size},
      {title + of("a") + "\n", "4: " + no_size},
      {title + "# a comment\n" + of("a"), "2: " + no_size},
      {title + hash + "  a\n", "2: " + no_size},
      {title + of("a") + title, "4: " + no_size},
      {title + "# 3 bytes", "2: " + no_size},
      {title + of("a", ""), "2: " + no_size},
      {title + of("a", "-3"), "2: " + no_size},
      {title + of("a", "+3"), "2: " + no_size},
      {title + of("a", "03"), "2: " + no_size},
      {title + of("a", "00"), "2: " + no_size},
      {title + of("a", "3 "), "2: " + no_size},
      {title + of("a", " 3"), "2: " + no_size},
      {title + of("a", "0x3"), "2: " + no_size},
      {title + of("a", "3.0"), "2: " + no_size},
      {title + of("a", "9223372036854775808"), "2: " + no_size},
      {title + of("a", "18446744073709551617"), "2: " + no_size},
      {title + "# 3 bytes\r\n" + hash + "  a\n", "2: " + no_size},
      {title + "# 3 Bytes\n" + hash + "  a\n", "2: " + no_size},
      {title + "# bytes\n" + hash + "  a\n", "2: " + no_size},
      {title + "#  bytes\n" + hash + "  a\n", "2: " + no_size},
      {title + "# 3 bytes\n", "3: " + no_file},
      {title + "# 3 bytes\n# 3 bytes\n", "3: " + no_file},
      {title + "# 3 bytes\n" + hash + "  a", "3: " + no_file},
      {title + "# 3 bytes\n" + hash + "\n", "3: " + no_file},
      {title + of(""), "3: " + no_file},
      {title + "# 3 bytes\n" + hash + " a.txt\n", "3: " + no_file},
      {title + "# 3 bytes\n" + hash + " *a.txt\n", "3: " + no_file},
      {title + "# 3 bytes\n" + hash + "\t\ta.txt\n", "3: " + no_file},
      {title + "# 3 bytes\n" + hash.substr(1) + "  aa\n", "3: " + no_file},
      {title + of("a", "3", hash + "0"), "3: " + no_file},
      {title + of("a", "3", "2C" + hash.substr(2)), "3: " + no_file},
      {title + of("a", "3", "g" + hash.substr(1)), "3: " + no_file},
      {title + of("a", "3", "\\" + hash.substr(1)), "3: " + no_file},
      {title + of("b") + of("a"), "5: the path \"a\" is not behind the one before it"},
      {title + of("a") + of("a"), "5: the path \"a\" is not behind the one before it"},
      {title + of("a/b") + of("a.b"), "5: the path \"a.b\" is not behind the one before it"},
      {title + of("a") + of("b", "x"), "4: " + no_size},
      {title + of("a") + of("b", "3", zeros.substr(1) + "G"), "5: " + no_file},
      {title + of("a") + of("../b"), "5: the path \"../b\" has a \"..\" part"},
  };
  for (const Case& bad : cases) {
    CAPTURE(bad.text);
    const auto read = parse_bundle_list(bad.text, "needs.zip: SHA256SUMS");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().kind == axle::ErrorKind::malformed);
    CHECK(read.error().message == "needs.zip: SHA256SUMS:" + bad.message);
    CHECK(read.error().hint == "the bundle is damaged, or made by something else: make it again");
  }
}

TEST_CASE("a path that leaves the bundle, or is no file's, is refused with the reason") {
  struct Case {
    std::string path;
    std::string message;
  };
  const Case cases[] = {
      {"/etc/passwd", "\"/etc/passwd\" is an absolute path"},
      {"..", "\"..\" has a \"..\" part"},
      {"a/../../b", "\"a/../../b\" has a \"..\" part"},
      {"./a", "\"./a\" has a \".\" part"},
      {"a//b", "\"a//b\" has an empty part"},
      {"a/", "\"a/\" is a folder"},
      {"simple/demo/", "\"simple/demo/\" is a folder"},
      {"a\\b", "\"a\\\\b\" has a backslash"},
      {"C:a", "\"C:a\" has a drive letter"},
      {"\xFF", "is not valid UTF-8"},
      {std::string("a\0b", 3), "has a control character"},
      {"a\r", "has a control character"},
      {"a\xC2\x85", "has a control character"},
      {"a\xE2\x80\xA8", "has a control character"},
      {std::string(256, 'a'), "has a part of more than 255 bytes"},
      {"SHA256SUMS", "\"SHA256SUMS\" is of the list itself"},
      {"SHA256SUMS.sig", "\"SHA256SUMS.sig\" is of the list itself"},
  };
  for (const Case& bad : cases) {
    CAPTURE(bad.path);
    const auto read = parse_bundle_list(title + of(bad.path), "list");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().message.starts_with("list:3: the path \""));
    CHECK_MESSAGE(read.error().message.ends_with(bad.message), read.error().message);
  }
  for (const std::string good : {"SHA256SUMS2", "sha256sums", "simple/SHA256SUMS", "..a", "a..",
                                 "*", " a", "a ", "#", "\xF0\x9F\x90\x8D"}) {
    CAPTURE(good);
    const auto read = parse_bundle_list(title + of(good), "list");
    REQUIRE_MESSAGE(read.has_value(), read.error().message);
    CHECK(read->front().path == good);
  }
  CHECK(parse_bundle_list(title + of(std::string(255, 'a')), "list").has_value());
}

TEST_CASE("a list with any byte changed is another list, or none") {
  const std::string text = title + of("simple/a", "12") + of("simple/b", "7", zeros);
  const auto members = parse_bundle_list(text, "list");
  REQUIRE(members.has_value());
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'\0', '\n', '\r', ' ', '0', '1', 'a', 'F', '/', '\x7F', '\xFF'}) {
      std::string other = text;
      if (other[at] == c) continue;
      other[at] = c;
      const auto read = parse_bundle_list(other, "list");
      if (!read) continue;
      CAPTURE(at);
      CHECK(*read != *members);
      CHECK(render_bundle_list(*read) == other);
    }
    const auto cut = parse_bundle_list(text.substr(0, at), "list");
    const bool whole = at == title.size() || at == (title + of("simple/a", "12")).size();
    CHECK(cut.has_value() == whole);
  }
}
