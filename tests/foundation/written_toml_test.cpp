// The fast reader beside tomlplusplus: it makes the same table, or none.
#include "foundation/documents/written_toml.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/documents/toml_writer.h"

using axle::documents::parse_toml;
using axle::documents::parse_written_toml;
using axle::documents::TomlWriter;

namespace {

/// Every form that TomlWriter has, as a lock has them.
std::string all_forms() {
  TomlWriter toml;
  toml.comment("What is in it.\n\nKeep it.");
  toml.number("schema", 1);
  toml.text("made-by", R"(axle "0.1" C:\temp)");
  toml.table("requests");
  toml.texts("project", {"a==1", "b; python_version < '3.9'"});
  toml.table("requests.extras");
  toml.texts("x", {});
  toml.texts("y", {"one"});
  toml.element("package");
  toml.text("name", "a\nb\tc");
  toml.number("size", 1234567890123);
  toml.table("package.extras");
  toml.texts("z", {"", "#]"});
  toml.element("package");
  toml.text("name", "");
  toml.table("package.built-from");
  toml.flag("editable", true);
  toml.flag("kept", false);
  return toml.written();
}

/// Whether the fast reader took it.
bool agrees(const std::string& text) {
  const auto fast = parse_written_toml(text);
  if (!fast) return false;
  CAPTURE(text);
  const auto slow = parse_toml(text, "x.toml");
  REQUIRE(slow);
  CHECK(*fast == *slow);
  return true;
}

}  // namespace

TEST_CASE("all that is written is read") {
  CHECK(agrees(all_forms()));
  CHECK(agrees(""));
  CHECK(agrees("a = 0\n"));
}

TEST_CASE("other spellings, and what is no TOML, are left to the other reader") {
  for (const char* text : {"a = 1",
                           "a=1\n",
                           "a = 01\n",
                           "a = +1\n",
                           "a = 1 # one\n",
                           "a = 1\r\n",
                           "a = 'x'\n",
                           "a = \"\"\"x\"\"\"\n",
                           "a = \"\"\"\n",
                           "a = \"\\u0041\"\n",
                           "a = \"\xc3\xa9\"\n",
                           "a = \"x\n",
                           "\"a\" = 1\n",
                           "a.b = 1\n",
                           "a = 1\na = 2\n",
                           "[a]\n[a]\n",
                           "[a.b]\n[a]\n",
                           "a = 1\n[a]\n",
                           "a = []\n[[a]]\n",
                           "a = [\"x\"]\n[a.b]\n",
                           "[a]\n[[a]]\n",
                           "[[a]]\n[a]\n",
                           "[[a]]\nb = 1\n[a.b]\n",
                           "[[a.b]]\n",
                           "[a.b.c]\n",
                           "[]\n",
                           "[a",
                           "[[a]\n",
                           "a = [1]\n",
                           "a = [\"x\",]\n",
                           "a = [\n    \"x\"\n]\n",
                           "a = {}\n",
                           "a = 1.5\n",
                           "a = truely\n",
                           "#\t\n",
                           "a = 9999999999999999999\n",
                           "<<<<<<< HEAD\n",
                           " a = 1\n",
                           "a = \"x\" \n"}) {
    CAPTURE(text);
    CHECK_FALSE(agrees(text));
  }
}

TEST_CASE("a byte that is changed, added or left out makes no other answer") {
  const std::string whole = all_forms();
  constexpr std::string_view bytes = "\n \"\\[]=#,.0a-n\t\x7f\xc3";
  std::size_t taken = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string shorter = whole;
    shorter.erase(place, 1);
    taken += agrees(shorter) ? 1 : 0;
    for (const char byte : bytes) {
      std::string changed = whole;
      changed[place] = byte;
      taken += agrees(changed) ? 1 : 0;
      std::string longer = whole;
      longer.insert(place, 1, byte);
      taken += agrees(longer) ? 1 : 0;
    }
    agrees(whole.substr(0, place));
  }
  CHECK(taken > whole.size());
}
