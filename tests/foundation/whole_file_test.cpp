#include "foundation/system/whole_file.h"

#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/file_lock.h"
#include "tests/support/scratch.h"

using namespace axle::system;
using axle::builder::testing::read_all;
using axle::builder::testing::Scratch;

namespace fs = std::filesystem;

namespace {

mode_t mode_of(const std::string& path) {
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

std::ptrdiff_t files_in(const std::string& folder) {
  return std::distance(fs::directory_iterator(folder), {});
}

}  // namespace

TEST_CASE("a file is replaced whole, with the mode and time that are asked for") {
  const Scratch scratch;
  scratch.write("in/file", "before, and longer than what comes");
  const std::string path = scratch.at("in/file");
  const mode_t former = ::umask(027);
  CHECK_FALSE(write_whole_file(path, "content"));
  CHECK(read_all(path) == "content");
  CHECK(mode_of(path) == 0640);
  CHECK_FALSE(write_whole_file(path, "", {.mode = 0644, .modified = 1'000'000'000}));
  ::umask(former);
  CHECK(read_all(path).empty());
  CHECK(mode_of(path) == 0644);
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK(status.st_mtim.tv_sec == 1'000'000'000);
  CHECK_FALSE(write_whole_file(path, "secret", {.flush = Flush::no, .mode = 0600}));
  CHECK(mode_of(path) == 0600);
  CHECK(files_in(scratch.at("in")) == 1);
}

TEST_CASE("a link in the place is replaced, not what it leads to") {
  const Scratch scratch;
  scratch.write("in/target", "target");
  fs::create_symlink("target", scratch.at("in/link"));
  CHECK_FALSE(write_whole_file(scratch.at("in/link"), "new"));
  CHECK(read_all(scratch.at("in/target")) == "target");
  CHECK(read_all(scratch.at("in/link")) == "new");
}

TEST_CASE("what cannot be written says why, and leaves what was there and no draft") {
  const Scratch scratch;
  scratch.write("in/file", "before");
  const std::string path = scratch.at("in/file");
  CHECK(write_whole_file(scratch.at("none/file"), "x") == std::errc::no_such_file_or_directory);
  CHECK(write_whole_file(path + "/x", "x") == std::errc::not_a_directory);
  CHECK(write_whole_file(scratch.at("in"), "x") == std::errc::is_a_directory);
  // As on a full disk: the first write takes a part.
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit own{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &own) == 0);
  const rlimit small{4, own.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::error_code full = write_whole_file(path, "too much");
  ::setrlimit(RLIMIT_FSIZE, &own);
  ::signal(SIGXFSZ, handler);
  CHECK(full == std::errc::file_too_large);
  CHECK(read_all(path) == "before");
  CHECK(files_in(scratch.at("in")) == 1);
}

TEST_CASE("writers of one file do not meet") {
  const Scratch scratch;
  fs::create_directory(scratch.at("in"));
  const std::string path = scratch.at("in/file");
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'i'; ++letter) {
    writers.emplace_back([&, letter] {
      for (int i = 0; i < 50; ++i)
        (void)write_whole_file(path, std::string(10'000, letter), {.flush = Flush::no});
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string content = read_all(path);
  CHECK(content == std::string(10'000, content.empty() ? ' ' : content.front()));
  CHECK(files_in(scratch.at("in")) == 1);
}

TEST_CASE("drafts that nobody writes any more are removed") {
  const Scratch scratch;
  scratch.write("drafts/killed", "half");
  scratch.write("drafts/living", "half");
  const Descriptor living(::open(scratch.at("drafts/living").c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE_FALSE(try_lock(living));
  remove_abandoned_drafts(scratch.at("drafts"));
  CHECK_FALSE(fs::exists(scratch.at("drafts/killed")));
  CHECK(fs::exists(scratch.at("drafts/living")));
  CHECK_FALSE(write_whole_file(scratch.at("file"), "x", {.drafts = scratch.at("drafts")}));
  CHECK(read_all(scratch.at("file")) == "x");
  CHECK(files_in(scratch.at("drafts")) == 1);
}

TEST_CASE("locks are shared or exclusive, and end with their descriptor") {
  const Scratch scratch;
  scratch.write("file", "");
  const auto open = [&] {
    return Descriptor(::open(scratch.at("file").c_str(), O_RDONLY | O_CLOEXEC));
  };
  Descriptor first = open();
  const Descriptor second = open();
  CHECK_FALSE(try_lock(first, Lock::shared));
  CHECK_FALSE(try_lock(second, Lock::shared));
  CHECK(try_lock(second) == std::errc::operation_would_block);
  first.reset();
  CHECK_FALSE(wait_for_lock(second));
  CHECK(try_lock(open(), Lock::shared) == std::errc::operation_would_block);
}
