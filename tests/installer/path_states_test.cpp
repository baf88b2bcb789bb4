// What is not read again: the states of files say whether something was changed.
#include "installer/path_states.h"

#include <array>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "sandbox.h"

using namespace axle::installer;

namespace fs = std::filesystem;

namespace {

std::string state(const std::string& path) {
  PathStates states;
  REQUIRE(states.add(path));
  return states.text;
}

std::string linked_state(const std::string& path) {
  PathStates states;
  REQUIRE(states.add_linked(path));
  return states.text;
}

/// Of the same size, with the times that it had.
void rewrite_unseen(const std::string& path, const std::string& text) {
  struct stat before = {};
  REQUIRE(::stat(path.c_str(), &before) == 0);
  write_text(path, text);
  const std::array<timespec, 2> times = {before.st_atim, before.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0) == 0);
}

}  // namespace

TEST_CASE("whatever changes has another state") {
  const Sandbox box;
  const std::string file = box / "file";
  const std::string absent = state(file);
  write_text(file, "one");
  const std::string first = state(file);
  CHECK(first != absent);
  CHECK(state(file) == first);
  write_text(file, "three");
  const std::string longer = state(file);
  CHECK(longer != first);
  rewrite_unseen(file, "other");
  CHECK(state(file) != longer);
  const std::string rewritten = state(file);
  fs::permissions(file, fs::perms::owner_read);
  CHECK(state(file) != rewritten);
  fs::remove(file);
  CHECK(state(file) == absent);
}

TEST_CASE("a link has the state of what it leads to") {
  const Sandbox box;
  write_text(box / "one", "1");
  write_text(box / "two", "2");
  fs::create_symlink(box / "one", box / "link");
  CHECK(state(box / "link") == state(box / "one"));
  fs::remove(box / "link");
  fs::create_symlink(box / "two", box / "link");
  CHECK(state(box / "link") == state(box / "two"));
}

TEST_CASE("another name for a file of the store is no change of it") {
  const Sandbox box;
  write_text(box / "stored", "text");
  fs::create_hard_link(box / "stored", box / "one");
  const std::string before = linked_state(box / "one");
  const std::string whole = state(box / "one");
  fs::create_hard_link(box / "stored", box / "two");
  CHECK(linked_state(box / "one") == before);
  CHECK(state(box / "one") != whole);
}

TEST_CASE("what has something else each time has no state") {
  const Sandbox box;
  REQUIRE(::mkfifo((box / "pipe").c_str(), 0600) == 0);
  PathStates states;
  CHECK_FALSE(states.add(box / "pipe"));
  CHECK_FALSE(states.add("/dev/zero"));
  CHECK(states.add("/dev/null"));
}

TEST_CASE("what was changed within two seconds is not relied on") {
  const Sandbox box;
  const std::int64_t began = nanoseconds_now();
  write_text(box / "file", "text");
  PathStates states;
  REQUIRE(states.add(box / "file"));
  CHECK_FALSE(states.settled_at(began));
  CHECK_FALSE(states.settled_at(states.latest + settled_after - 1));
  CHECK(states.settled_at(states.latest + settled_after));
}
