// Trees of folders: listed by several threads, removed, and their leaves compared with what the
// standard library finds.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/tree/leaves.h"
#include "installer/tree/remove_tree.h"
#include "installer/tree/tree_listing.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;
namespace fs = std::filesystem;

namespace {

/// Files, links and folders at random; some folders have more files than one thread takes at once.
void grow(const fs::path& folder, std::mt19937& random, int depth) {
  fs::create_directories(folder);
  const int files = random() % 7 == 0 ? 300 : static_cast<int>(random() % 5);
  for (int i = 0; i < files; ++i)
    write_text((folder / ("f" + std::to_string(i))).string(), std::string(random() % 9, 'x'));
  if (random() % 3 == 0) fs::create_symlink("/", folder / "to-the-root");
  if (random() % 4 == 0) write_text((folder / "__pycache__/m.pyc").string(), "code");
  for (unsigned i = 0; depth > 0 && i < random() % 4; ++i)
    grow(folder / ("d" + std::to_string(i)), random, depth - 1);
}

/// A chain of folders whose whole path is longer than the system takes at once; a file in each.
void grow_deep(const std::string& top) {
  REQUIRE(::mkdir(top.c_str(), 0777) == 0);
  int folder = ::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int length = 0; length < 2 * PATH_MAX; length += 201) {
    const std::string name(200, 'n');
    REQUIRE(::mkdirat(folder, name.c_str(), 0777) == 0);
    const int inner = ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int file = ::openat(inner, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    REQUIRE(file >= 0);
    ::close(file);
    ::close(folder);
    folder = inner;
  }
  ::close(folder);
}

}  // namespace

TEST_CASE("the leaves of a tree are its files and links without byte code, sorted") {
  std::mt19937 random(20261124);
  for (int round = 0; round < 12; ++round) {
    const Sandbox sandbox;
    const std::string top = sandbox / "top";
    grow(top, random, 4);
    std::set<std::string> expected;
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      const std::string path = fs::path(entry.path()).lexically_relative(top).string();
      if (!entry.is_directory() || entry.is_symlink())
        if (!path.contains("__pycache__/")) expected.insert(path);
    }
    const Leaves leaves = list_leaves(top).value();
    REQUIRE(leaves.size() == expected.size());
    CHECK(std::ranges::is_sorted(leaves));
    CHECK(std::ranges::equal(leaves, expected, {}, &Leaf::path));
    for (const Leaf& leaf : leaves) {
      struct stat status = {};
      REQUIRE(::lstat((top + "/" + leaf.path).c_str(), &status) == 0);
      CHECK(leaf == leaf_of(leaf.path, status));
    }
    CHECK(remove_tree(top) == 0);
    CHECK_FALSE(is_there(top));
  }
  CHECK(is_there("/"));
}

TEST_CASE("names in one folder come in the order of the paths of their leaves") {
  std::mt19937 random(20261130);
  const auto name = [&] {
    std::string text;
    do text += "a-./0\xFF"[random() % 6];
    while (random() % 3 != 0);
    std::ranges::replace(text, '/', 'b');
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    const std::string names[] = {name(), name()};
    const LeafName left{names[0], random() % 2 == 0};
    const LeafName right{names[1], random() % 2 == 0};
    const auto path = [](const LeafName& one) {
      return std::string(one.name) + (one.is_folder ? "/x" : "");
    };
    if (left.name == right.name && left.is_folder != right.is_folder) continue;
    CAPTURE(path(left));
    CAPTURE(path(right));
    CHECK(comes_before(left, right) == (path(left) < path(right)));
  }
}

TEST_CASE("a tree that is deeper than a path may be long is listed and removed") {
  const Sandbox sandbox;
  const std::string top = sandbox / "top";
  grow_deep(top);
  const auto listing = TreeListing::read(top, {});
  REQUIRE(listing.has_value());
  CHECK(listing->size() == listing->folders().size() - 1);
  CHECK(listing->folders().back().below.size() > PATH_MAX);
  CHECK(remove_tree(top) == 0);
  CHECK_FALSE(is_there(top));
}

TEST_CASE("a link that takes the place of a folder is not followed") {
  const Sandbox sandbox;
  const std::string top = sandbox / "top";
  write_text(sandbox / "elsewhere/mine", "kept");
  write_text(top + "/a/b/mine", "x");
  const auto listing = TreeListing::read(top, {});
  REQUIRE(listing.has_value());
  fs::rename(top + "/a", sandbox / "gone");
  fs::create_directory(sandbox / "elsewhere/b");
  write_text(sandbox / "elsewhere/b/mine", "kept");
  fs::create_directory_symlink(sandbox / "elsewhere", top + "/a");
  CHECK_FALSE(listing->for_each_file([](const auto&) { return axle::Result<void>(); }).has_value());
  CHECK(remove_tree(top) == 0);
  CHECK(is_there(sandbox / "elsewhere/mine"));
}

TEST_CASE("a link that takes the place of a folder while its tree is removed is not followed") {
  for (int round = 0; round < 15; ++round) {
    const Sandbox sandbox;
    const std::string top = sandbox / "top";
    const std::string elsewhere = sandbox / "elsewhere";
    for (int i = 0; i < 60; ++i) {
      write_text(fmt::format("{}/a/b{}/file", top, i), "x");
      write_text(fmt::format("{}/b{}/file", elsewhere, i), "kept");
    }
    const auto before = snapshot(elsewhere);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
      std::error_code gone;
      fs::rename(top + "/a", sandbox / "aside", gone);
      fs::create_directory_symlink(elsewhere, top + "/a", gone);
    });
    (void)remove_tree(top);
    other.join();
    CHECK(snapshot(elsewhere) == before);
    CHECK(remove_tree(top) == 0);
    CHECK(snapshot(elsewhere) == before);
  }
}

TEST_CASE("every file is worked on once, and the first error ends the work") {
  const Sandbox sandbox;
  const std::string top = sandbox / "top";
  for (int i = 0; i < 1000; ++i) write_text(top + "/f" + std::to_string(i), "x");
  const auto listing = TreeListing::read(top, {});
  REQUIRE(listing.has_value());
  std::vector<std::atomic<int>> seen(listing->size());
  CHECK(listing
            ->for_each_file([&](const TreeListing::File& file) {
              ++seen[file.number];
              return axle::Result<void>();
            })
            .has_value());
  CHECK(std::ranges::all_of(seen, [](const auto& count) { return count == 1; }));
  std::atomic<int> calls = 0;
  const auto failed = listing->for_each_file([&](const TreeListing::File&) -> axle::Result<void> {
    ++calls;
    return axle::fail(axle::ErrorKind::io, "no more");
  });
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().message == "no more");
  CHECK(calls < 1000);
}

TEST_CASE("what cannot be removed is said, the rest is gone") {
  if (::geteuid() == 0) {
    MESSAGE("skipped: permissions do not stop root");
    return;
  }
  const Sandbox sandbox;
  const std::string top = sandbox / "top";
  write_text(top + "/open/a", "x");
  write_text(top + "/shut/a", "x");
  ::chmod((top + "/shut").c_str(), 0500);
  CHECK(remove_tree(top) == EACCES);
  CHECK_FALSE(is_there(top + "/open"));
  CHECK(is_there(top + "/shut/a"));
  ::chmod((top + "/shut").c_str(), 0700);
}
