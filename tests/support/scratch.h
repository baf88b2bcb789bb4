#pragma once
// A temporary folder with files in it, the place of all temporary files as long as it is there, and
// commands.

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <stdlib.h>

namespace axle::builder::testing {

class Scratch {
 public:
  Scratch() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "axle-builder-test-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    std::filesystem::create_directory(temporary());
    if (const char* before = getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", temporary().c_str(), 1);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR");
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string temporary() const { return at("temporary"); }
  [[nodiscard]] std::string at(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream file(at(name), std::ios::binary);
    file << text;
    REQUIRE(file.good());
  }

 private:
  std::filesystem::path path_;
  std::optional<std::string> before_;  ///< TMPDIR
};

inline std::string read_all(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// What `command` prints; the test fails when it does not succeed.
inline std::string output_of(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    text.append(buffer.data(), got);
  }
  CHECK_MESSAGE(pclose(pipe.release()) == 0, command);
  return text;
}

}  // namespace axle::builder::testing
