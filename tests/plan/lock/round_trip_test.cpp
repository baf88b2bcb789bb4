// What is written is read as the same, and a small change is a small difference.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "foundation/documents/written_toml.h"
#include "tests/plan/lock/made_lock.h"

namespace axle::plan {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Those of `left` that `right` does not have, as a sequence: the longest common one is kept.
std::vector<std::string> only_in(const std::string& left, const std::string& right) {
  const auto a = lines_of(left);
  const auto b = lines_of(right);
  std::vector<std::vector<std::size_t>> common(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<std::string> only;
  for (std::size_t i = 0, j = 0; i < a.size();) {
    if (j < b.size() && a[i] == b[j]) {
      ++i, ++j;
    } else if (j < b.size() && common[i][j + 1] >= common[i + 1][j]) {
      ++j;
    } else {
      only.push_back(a[i++]);
    }
  }
  return only;
}

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> pieces = {"a",    "\"", "\\", "\n", "\t", "é", "'''",
                                                  "\x01", "#",  "]",  "=",  " ",  "∀", "\x7f"};
  std::string text;
  for (std::size_t i = 0, count = 1 + random() % 6; i < count; ++i)
    text += pieces[random() % pieces.size()];
  return text;
}

Lock random_lock(std::mt19937& random) {
  Lock lock;
  lock.made_by = random_text(random);
  lock.inputs = digits("0123456789abcdef"[random() % 16]);
  const std::size_t classes = 1 + random() % 4;
  for (std::size_t i = 0; i < classes; ++i)
    lock.classes.push_back(
        {"class" + std::to_string(i), random_text(random), "3.12", "arch = x86_64"});
  for (std::size_t i = 0, count = random() % 8; i < count; ++i) {
    LockedPackage package =
        plain("p" + std::to_string(i), "1." + std::to_string(random() % 30), 'a');
    package.classes.clear();
    for (const LockedClass& one : lock.classes)
      if (random() % 2 == 0) package.classes.push_back(one.name);
    if (package.classes.empty()) package.classes.push_back(lock.classes.front().name);
    if (random() % 3 == 0) {
      package.variant = "v" + std::to_string(random() % 4);
      package.properties = {{"x86_64", "level", *package.variant}, {"acme", "kind", "one"}};
      if (random() % 2 == 0) package.supported = package.properties;
      package.filename.insert(package.filename.size() - 4, "-" + *package.variant);
      package.because = random_text(random);
    }
    if (random() % 4 == 0) package.size.reset();
    if (random() % 4 == 0) package.source = "wheels";
    for (std::size_t k = 0; k < i; ++k) {
      const bool together = std::ranges::all_of(
          package.classes, [&](const std::string& one) { return lock.packages[k].is_in(one); });
      if (together && random() % 2 == 0) package.needs.always.push_back(lock.packages[k].name);
      if (together && random() % 4 == 0) package.needs.extras["x"].push_back(lock.packages[k].name);
    }
    lock.packages.push_back(std::move(package));
  }
  return lock;
}

}  // namespace

TEST_CASE("a lock is written as docs/lock.md shows it") {
  const std::string path = AXLE_SOURCE_DIR "/tests/plan/lock/example.lock";
  const std::string written = render_lock(made_lock());
  if (std::getenv("AXLE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << written;
  std::ifstream file(path);
  const std::string golden(std::istreambuf_iterator<char>(file), {});
  CHECK_MESSAGE(written == golden,
                "run AXLE_UPDATE_GOLDEN=1 build/release/bin/lock_test and read the difference");
}

TEST_CASE("what is written is read as the same") {
  const Lock lock = made_lock();
  const auto again = parse_lock(render_lock(lock), "axle.lock");
  REQUIRE_MESSAGE(again, again.error().message);
  CHECK(*again == lock);
  CHECK(render_lock(*again) == render_lock(lock));
  CHECK(documents::parse_written_toml(render_lock(lock)));
}

TEST_CASE("a lock of another spelling is the same lock") {
  const std::string written = render_lock(made_lock());
  // The fast reader does not take a comment behind a value.
  const std::string edited =
      std::string(written).insert(written.find('\n', written.find("made-by")), " # once");
  CHECK_FALSE(documents::parse_written_toml(edited));
  const auto other = parse_lock(edited, "axle.lock");
  const auto lock = parse_lock(written, "axle.lock");
  REQUIRE(lock);
  REQUIRE(other);
  CHECK(*other == *lock);
}

TEST_CASE("any lock is: random ones, with texts of all kinds") {
  std::mt19937 random(18);
  for (int i = 0; i < 300; ++i) {
    const Lock lock = random_lock(random);
    const std::string written = render_lock(lock);
    INFO(written);
    const auto again = parse_lock(written, "axle.lock");
    REQUIRE_MESSAGE(again, again.error().message);
    CHECK(*again == lock);
    CHECK(render_lock(*again) == written);
  }
}

TEST_CASE("one changed package changes its own lines alone") {
  const Lock before = made_lock();
  Lock after = before;
  LockedPackage& figures = after.packages[2];
  REQUIRE(figures.name == "figures");
  figures = plain("figures", "2.2", '9');
  const std::string old_text = render_lock(before);
  const std::string new_text = render_lock(after);
  CHECK(only_in(old_text, new_text).size() == 4);  // version, wheel, url, sha256
  CHECK(only_in(new_text, old_text).size() == 4);
}

TEST_CASE("one need more is a line more, and so is a class for what differs there") {
  Lock before = made_lock();
  before.packages[1].needs.always = {"figures", "torch"};
  Lock after = before;
  after.packages[1].needs.always = {"figures", "kernel", "torch"};
  CHECK(only_in(render_lock(before), render_lock(after)).empty());
  CHECK(only_in(render_lock(after), render_lock(before)) ==
        std::vector<std::string>{"    \"kernel\","});
  // Packages of every class do not name them.
  Lock wider = before;
  wider.classes.push_back({"arm", "gh200", "3.12", "arch = aarch64"});
  for (LockedPackage& package : wider.packages)
    if (package.classes.size() == before.classes.size()) package.classes.push_back("arm");
  CHECK(only_in(render_lock(before), render_lock(wider)).empty());
  CHECK(only_in(render_lock(wider), render_lock(before)).size() == 6);
}

}  // namespace axle::plan
