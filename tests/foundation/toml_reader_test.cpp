#include "foundation/documents/toml_reader.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using axle::ErrorKind;
using axle::documents::parse_toml;

namespace {

std::string dotted(std::size_t segments) {
  std::string key = "a";
  for (std::size_t i = 1; i < segments; ++i) key += i % 3 == 0 ? ".\"b\"" : " . c";
  return key;
}

}  // namespace

TEST_CASE("a key of 40,000 segments is an error with its line, wherever it stands") {
  for (const char* form : {"x = 1\n{} = 1\n", "x = 1\n[{}]\n", "x = 1\n[[{}]]\n",
                           "x = 1\ny = {{ {} = 1 }}\n", "x = 1\ny = [ {{ {} = 1 }} ]\n"}) {
    CAPTURE(form);
    const auto table =
        axle::documents::parse_toml(fmt::format(fmt::runtime(form), dotted(40'000)), "uv.toml");
    REQUIRE(!table);
    CHECK(table.error().kind == ErrorKind::malformed);
    CHECK(table.error().message.starts_with("uv.toml:2: a key has more than 100 segments"));
    CHECK(axle::documents::parse_toml(fmt::format(fmt::runtime(form), dotted(50)), "uv.toml"));
  }
}

TEST_CASE("dots in strings, comments and values are not segments") {
  const std::string dots(1000, '.');
  CHECK(axle::documents::parse_toml(
      "# " + dots + "\na = '" + dots + "'\nb = \"" + dots + "\\\"" + dots + "\"\nc = '''\n" + dots +
          "\n''" + dots + "\n'''\nd = \"\"\"\n" + dots + "\\\"\"\"" + dots + "\"\"\"\n",
      "x.toml"));
  std::string numbers = "a = [";
  for (int i = 0; i < 1000; ++i) numbers += "3.14, 1979-05-27 07:32:00.5,\n";
  CHECK(axle::documents::parse_toml(numbers + "]", "x.toml"));
}

TEST_CASE("values nested without end, and files without end, are errors") {
  for (const std::string open : {"[", "{a="}) {
    std::string text = "a = ";
    for (int i = 0; i < 100'000; ++i) text += open;
    const auto table = axle::documents::parse_toml(text, "x.toml");
    REQUIRE(!table);
    CHECK(table.error().message.starts_with("x.toml:1"));
  }
  CHECK(!axle::documents::parse_toml(std::string(17U << 20, '\n'), "x.toml"));
}

TEST_CASE("a letter outside ASCII where no letter may stand is an error, as is every other") {
  // One letter of each range that toml++ looks at when it wants to know whether it is a space.
  for (const char* letter : {"é", "ˍ", "Ж", "ᚠ", "あ", "ⷠ", "字", "ﬁ", "😀"}) {
    for (const char* form : {"{} = 1\n", "a{} = 1\n", "a {} = 1\n", "a = 1{}\n", "a = [1, {}]\n",
                             "[{}]\n", "a = {{ {} = 1 }}\n"}) {
      const std::string text = fmt::format(fmt::runtime(form), letter);
      CAPTURE(text);
      const auto table = parse_toml(text, "x.toml");
      REQUIRE(!table);
      CHECK(table.error().message.starts_with("x.toml:1"));
    }
    CHECK(parse_toml(fmt::format("# {}\n\"{}\" = '{}'\n", letter, letter, letter), "x.toml"));
  }
}
