// A lock that is wrong says where, what and why.
#include <string>

#include <doctest/doctest.h>

#include "tests/plan/lock/made_lock.h"

namespace axle::plan {
namespace {

/// The lock of made_lock() with the first `from` replaced.
std::string edited(std::string_view from, std::string_view to) {
  std::string text = render_lock(made_lock());
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

Error refused(const std::string& text) {
  const auto lock = parse_lock(text, "axle.lock");
  REQUIRE_FALSE(lock);
  return lock.error();
}

std::size_t line_of(const std::string& text, std::string_view part) {
  const std::size_t at = text.find(part);
  REQUIRE_MESSAGE(at != std::string::npos, part);
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// The message begins with the line of `part` in `text`.
void check_refused(const std::string& text, std::string_view part, std::string_view why) {
  const Error error = refused(text);
  INFO(error.message);
  CHECK(error.message.starts_with("axle.lock:" + std::to_string(line_of(text, part)) + ": "));
  CHECK(error.message.contains(why));
  CHECK(error.hint.contains("variant lock"));
}

}  // namespace

TEST_CASE("a newer schema is refused with a word, before anything else") {
  const Error error = refused("schema = 2\nnew-key = [1]\n");
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(error.message == "axle.lock:1: schema: schema 2 is not supported, only 1");
  CHECK(error.hint == "a newer version of Axle may read the file");
  CHECK(refused("").message == "axle.lock:1: schema: the key is missing");
  CHECK(refused("schema = \"1\"").message.contains("expected a number"));
}

TEST_CASE("conflict markers are told as such") {
  const std::string text = edited(
      "name = \"torch\"", "<<<<<<< HEAD\nname = \"torch\"\n=======\nname = \"x\"\n>>>>>>> b");
  const Error error = refused(text);
  CHECK(error.message == "axle.lock:" + std::to_string(line_of(text, "<<<<<<<")) +
                             ": it has the conflict markers of a merge that is not finished");
  CHECK(error.hint.contains("`variant lock --upgrade`"));
}

TEST_CASE("text that is no TOML, and keys that nobody knows") {
  CHECK(refused("schema = ").message.contains("is not TOML"));
  CHECK(refused(edited("made-by", "made-for")).message.contains("made-by: the key is missing"));
  const std::string text = edited("sha256 = ", "sha265 = \"\"\nsha256 = ");
  const Error error = refused(text);
  CHECK(error.message.contains("package[1].sha265: unknown key"));
  CHECK(error.hint == "did you mean sha256?");
}

TEST_CASE("classes: two of one name, none, and one that is not there") {
  check_refused(edited("name = \"train\"", "name = \"laptop\""),
                "name = \"laptop\"\nmachine = \"h100\"", "two classes laptop");
  check_refused(edited("name = \"train\"", "name = \"Laptop\""), "name = \"Laptop\"",
                "two classes of one name, laptop and Laptop");
  const std::string text = edited("classes = [\"train\"]", "classes = [\"trian\"]");
  const Error error = refused(text);
  CHECK(error.message.contains("there is no class \"trian\""));
  CHECK(error.hint.contains("did you mean train?"));
  check_refused(edited("classes = [\"train\"]", "classes = []"), "classes = []", "no class");
  check_refused(edited("classes = [\"train\"]", "classes = [\"train\", \"train\"]"),
                "\"train\", \"train\"", "listed twice");
  check_refused(edited("python = \"3.12\"", "python = \"3\""), "python = \"3\"", "minor release");
  check_refused(edited("name = \"train\"", "name = \"a b\""), "name = \"a b\"", "letters");
}

TEST_CASE("two files of one package in one class name each other") {
  const std::string text = edited("classes = [\"train\"]", "classes = [\"laptop\", \"train\"]");
  const Error error = refused(text);
  INFO(error.message);
  CHECK(error.message.contains("class laptop has two files of kernel: the other is at axle.lock:"));
  CHECK(error.hint.contains("variant lock"));
}

TEST_CASE("a need that nothing meets") {
  check_refused(edited("needs = [\"toolkit<14\"]", "needs = [\"toolkit<13\"]"),
                "needs = [\"toolkit<13\"]",
                "\"toolkit<13\" is needed, but class train has version 13.0");
  check_refused(edited("needs = [\"toolkit<14\"]", "needs = [\"absent\"]"), "needs = [\"absent\"]",
                "\"absent\" is needed, but class train has no such package");
  // demo is in all three classes, toolkit in one.
  check_refused(edited("\"torch\",\n    \"tool;", "\"toolkit\",\n    \"tool;"),
                "needs = [\n    \"toolkit\"", "class laptop has no such package");
  CHECK(parse_lock(edited("\"torch\",\n    \"tool;", "\"toolkit; os_name == 'nt'\",\n    \"tool;"),
                   "axle.lock"));
  check_refused(edited("plot = [\"figures>=2\"]", "plot = [\"figures>=3\"]"), "[package.extras]",
                "plot: \"figures>=3\" is needed, but class laptop has version 2.1");
  check_refused(edited("\"torch>=2.9\",", "\"other\","), "project = [", "\"other\" is asked for");
}

TEST_CASE("values that cannot be") {
  const std::string sha = "sha256 = \"" + digits('b') + "\"";
  check_refused(edited(sha, "sha256 = \"" + digits('B') + "\""), digits('B'),
                "64 hexadecimal digits");
  check_refused(edited(sha, "sha256 = \"bb\""), "sha256 = \"bb\"", "64 hexadecimal digits");
  check_refused(edited("size = 1000", "size = -1"), "size = -1", "number of bytes");
  check_refused(edited("name = \"demo\"", "name = \"De_mo\""), "name = \"De_mo\"", "normalised");
  check_refused(edited("version = \"2.1\"", "version = \"two\""), "version = \"two\"", "two");
  check_refused(edited("needs = [\"toolkit<14\"]", "needs = [\"toolkit <<\"]"),
                "needs = [\"toolkit <<\"]", "");
  check_refused(edited("inputs = \"ee", "inputs = \"gg"), "inputs", "64 hexadecimal digits");
  check_refused(edited("requires-python = \">=3.11\"", "requires-python = \"three\""),
                "requires-python", "three");
  check_refused(edited("\"nvidia :: cuda_version_lower_bound :: 13.0\"", "\"nvidia\""),
                "properties = [\"nvidia\"]", "nvidia");
}

TEST_CASE("places: logins, fragments, other schemes") {
  const std::string url = "url = \"https://files.example/demo-1.0-py3-none-any.whl\"";
  check_refused(edited(url, "url = \"https://me:secret@files.example/demo.whl\""), "me:secret",
                "login");
  CHECK_FALSE(refused(edited(url, "url = \"https://me:secret@files.example/demo.whl\""))
                  .message.contains("secret"));
  check_refused(edited(url, "url = \"ftp://files.example/demo.whl\""), "ftp:", "neither http");
  check_refused(edited(url, "url = \"https:///demo.whl\""), "https:///", "no server");
  check_refused(edited(url, "url = \"/srv/demo.whl\""), "\"/srv", "file:///path");
  check_refused(edited(url, "url = \"https://files.example/demo.whl#sha256=1\""), "#sha256=1",
                "fragment");
  check_refused(edited(url, "url = \"\""), "url = \"\"", "empty");
  check_refused(
      edited("source = \"https://index.example", "source = \"https://me:pw@index.example"), "me:pw",
      "login");
}

TEST_CASE("hand edits that contradict themselves") {
  check_refused(edited("wheel = \"demo-1.0", "wheel = \"demo-1.1"), "wheel = \"demo-1.1",
                "is not of demo 1.0");
  check_refused(edited("wheel = \"demo-1.0", "wheel = \"other-1.0"), "wheel = \"other-1.0",
                "is not of demo 1.0");
  check_refused(edited("variant = \"sm90\"", "variant = \"sm80\""),
                "wheel = \"kernel-0.3-py3-none-any-sm90",
                "its label is \"sm90\", and `variant` says \"sm80\"");
  check_refused(edited("variant = \"sm90\"\n", ""), "properties = [\n    \"nvidia :: sm_arch",
                "`variant` is missing");
  check_refused(edited("variant = \"cpu\"\n", ""), "family = \"torch\"", "`variant` is missing");
  check_refused(edited("because = \"nvidia", "supported = [\"a :: b :: c\"]\nbecause = \"nvidia"),
                "supported = [\"a :: b", "`properties` does not have");
  check_refused(
      edited("[package.built-from]\n", "sha256 = \"" + digits('a') + "\"\n[package.built-from]\n"),
      "sha256 = \"" + digits('a'), "a package that is built has no wheel");
  check_refused(edited("kind = \"folder\"", "kind = \"place\""), "kind = \"place\"", "");
  check_refused(edited("kind = \"folder\"", "kind = \"repository\"\ncommit = \"main\""),
                "commit = \"main\"", "40 or 64");
}

}  // namespace axle::plan
