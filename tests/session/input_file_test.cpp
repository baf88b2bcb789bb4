// Files that the user names: regular ones, pipes of a shell, and what is neither.
#include "session/input_file.h"

#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

namespace axle::session {
namespace {

TEST_CASE("input files: what a shell puts into a pipe is read") {
  int ends[2] = {-1, -1};
  REQUIRE(pipe(ends) == 0);
  const std::string text = "{\"x86_64\": {}}";
  REQUIRE(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(ends[1]);
  const auto read = axle::session::read_input("/dev/fd/" + std::to_string(ends[0]));
  close(ends[0]);
  REQUIRE_MESSAGE(read.has_value(), read.error().message);
  CHECK(*read == text);
}

TEST_CASE("input files: without an end, a folder, and none at all") {
  const auto endless = axle::session::read_input("/dev/zero");
  REQUIRE_FALSE(endless.has_value());
  CHECK(endless.error().kind == ErrorKind::malformed);
  CHECK(endless.error().message == "/dev/zero: too large, the limit is 64 MiB");
  const auto folder = axle::session::read_input("/");
  REQUIRE_FALSE(folder.has_value());
  CHECK(folder.error().kind == ErrorKind::io);
  const auto missing = axle::session::read_input("/nowhere/at-all");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().kind == ErrorKind::not_found);
}

}  // namespace
}  // namespace axle::session
