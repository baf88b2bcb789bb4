// Files that anybody may have written: their content, or their headers alone.
#include "installer/file_access.h"

#include <cstddef>
#include <span>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "installer/file_hash.h"
#include "tests/installer/sandbox.h"
#include "wheel/hash/sha256.h"

using axle::ErrorKind;
using axle::wheel::render_base64;
using axle::wheel::Sha256;
using namespace axle::installer;

namespace {

constexpr std::uint64_t limit = 1U << 20;

}  // namespace

TEST_CASE("the headers of a file end at its first empty line") {
  const Sandbox sandbox;
  const std::string file = sandbox / "METADATA";
  const auto headers_of = [&](const std::string& text) {
    write_text(file, text);
    const auto headers = read_headers(file, limit);
    REQUIRE(headers.has_value());
    return *headers;
  };
  for (const std::string line : {"\n", "\r\n"}) {
    const std::string fields = "Name: a" + line + "Version: 1" + line;
    CHECK(headers_of(fields) == fields);
    CHECK(headers_of(fields + line + "Name: b" + line + line + "c") == fields);
  }
  CHECK(headers_of("").empty());
  CHECK(headers_of("Name: a") == "Name: a");
  // Wherever the parts that it is read in meet.
  for (std::size_t length = 8180; length < 8200; ++length) {
    const std::string field = "Name: " + std::string(length, 'a');
    CHECK(headers_of(field + "\n\nbody") == field + "\n");
    CHECK(headers_of(field + "\r\n\r\nbody") == field + "\r\n");
    CHECK(headers_of(field + "\nVersion: 1\n\n" + std::string(20000, 'b')) ==
          field + "\nVersion: 1\n");
    CHECK(headers_of(field) == field);
  }
}

TEST_CASE("what is not there is told from what is no file") {
  const Sandbox sandbox;
  const std::string missing = sandbox / "missing";
  const auto nothing = read_if_there(missing, limit);
  REQUIRE(nothing.has_value());
  CHECK_FALSE(nothing->has_value());
  CHECK(read_file(missing, limit).error().kind == ErrorKind::not_found);
  CHECK(read_headers(missing, limit).error().kind == ErrorKind::not_found);

  const std::string pipe = sandbox / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  write_text(sandbox / "long", std::string(11, 'x'));
  for (const std::string& path : {sandbox.path(), pipe, sandbox / "long"}) {
    CAPTURE(path);
    CHECK(read_if_there(path, 10).error().kind == ErrorKind::malformed);
    CHECK(read_file(path, 10).error().kind == ErrorKind::malformed);
    CHECK(read_headers(path, 10).error().kind == ErrorKind::malformed);
  }
  CHECK(read_file(sandbox / "long", 11) == std::string(11, 'x'));
}

TEST_CASE("the hash of a file is that of its content, however long it is") {
  const Sandbox sandbox;
  const std::string file = sandbox / "file";
  // At once as long as little was hashed, then part by part.
  constexpr std::size_t part = std::size_t{1} << 17;
  const std::size_t sizes[] = {0, 1, 4095, 4096, part - 1, part, part + 1, 3 * part, 20 * part};
  for (const std::size_t turn : {0, 1, 2}) {
    for (const std::size_t size : sizes) {
      CAPTURE(turn);
      CAPTURE(size);
      std::string text(size, 'x');
      for (std::size_t i = 0; i < size; i += 101) text[i] = static_cast<char>(i);
      write_text(file, text);
      Sha256 hash;
      hash.update(std::as_bytes(std::span(text)));
      CHECK(hash_file(AT_FDCWD, file) == render_base64(hash.finish()));
    }
  }
  // What the system makes up has no size before it is read.
  struct stat status = {};
  if (::stat("/proc/version", &status) == 0 && status.st_size == 0) {
    Sha256 hash;
    const std::string text = read_text("/proc/version");
    REQUIRE_FALSE(text.empty());
    hash.update(std::as_bytes(std::span(text)));
    CHECK(hash_file(AT_FDCWD, "/proc/version") == render_base64(hash.finish()));
  }
}
