#include "cli/requirements_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

namespace {

namespace fs = std::filesystem;
using axle::cli::Opt;
using axle::cli::RequirementsFile;

class Folder {
 public:
  Folder() {
    char pattern[] = "/tmp/axle-requirements-XXXXXX";
    path_ = mkdtemp(pattern);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

axle::Result<RequirementsFile> read(const std::string& path) {
  RequirementsFile file;
  const axle::Result<void> done = axle::cli::read_requirements_file(path, false, file);
  if (!done) return std::unexpected(done.error());
  return file;
}

}  // namespace

TEST_CASE("comments, continued lines, variables, options and nested files") {
  const Folder folder;
  setenv("AXLE_TEST_HOST", "example.invalid", 1);
  folder.write("sub/more.txt", "third\n-c limits.txt\nlocal.whl\n");
  folder.write("sub/limits.txt", "first<2\n");
  const auto file = read(
      folder.write("all.txt",
                   "# comment\nfirst >= 1 # why\n\nsecond[extra] \\\n  ==2 ; python_version > '3'\n"
                   "-i https://${AXLE_TEST_HOST}/simple\n--extra-index-url=https://b/simple\n"
                   "-r sub/more.txt\n--pre\nurl @ https://x/y.whl#frag\n"));
  REQUIRE(file);
  CHECK(file->requirements == std::vector<std::string>{"first >= 1",
                                                       "second[extra]   ==2 ; python_version > '3'",
                                                       "third", folder.path("sub/local.whl"),
                                                       "url @ https://x/y.whl#frag"});
  CHECK(file->constraints == std::vector<std::string>{"first<2"});
  CHECK(file->options.value(Opt::index_url) == "https://example.invalid/simple");
  CHECK(file->options.values(Opt::extra_index_url) == std::vector<std::string>{"https://b/simple"});
  CHECK(file->options.has(Opt::pre));
}

TEST_CASE("files that name each other end") {
  const Folder folder;
  folder.write("a.txt", "-r b.txt\na\n");
  folder.write("b.txt", "-r a.txt\nb\n");
  const auto file = read(folder.path("a.txt"));
  REQUIRE(file);
  CHECK(file->requirements == std::vector<std::string>{"b", "a"});
}

TEST_CASE("a NUL is refused: it would cut the name of the file that is opened") {
  const Folder folder;
  const auto file = read(folder.write("r.txt", std::string("ok\n-r r.txt\0/x\n", 15)));
  REQUIRE_FALSE(file);
  CHECK(file.error().message.find("r.txt:2: there is a NUL") != std::string::npos);
}

TEST_CASE("files that name each other by ever new names end") {
  const Folder folder;
  std::filesystem::create_directories(folder.path("d"));
  for (int i = 0; i < 110; ++i) {
    folder.write("d/" + std::to_string(i) + ".txt", "-r " + std::to_string(i + 1) + ".txt\n");
  }
  const auto file = read(folder.path("d/0.txt"));
  REQUIRE_FALSE(file);
  CHECK(file.error().message.find("name each other") != std::string::npos);
}

TEST_CASE("a hash is never ignored") {
  const Folder folder;
  const auto file = read(folder.write("r.txt", "ok\ndemo==1 --hash=sha256:00\n"));
  REQUIRE_FALSE(file);
  CHECK(file.error().message.find("r.txt:2") != std::string::npos);
  CHECK(file.error().hint.find("--require-hashes") != std::string::npos);
}

TEST_CASE("errors name file and line") {
  const Folder folder;
  const auto missing = read(folder.path("none.txt"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == axle::ErrorKind::not_found);
  const auto unknown = read(folder.write("u.txt", "--frobnicate\n"));
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message.find("u.txt:1") != std::string::npos);
  const auto editable = read(folder.write("e.txt", "-e .\n"));
  REQUIRE_FALSE(editable);
  CHECK(editable.error().hint.find("pip install") != std::string::npos);
  const auto nested = read(folder.write("n.txt", "a\n-r gone.txt\n"));
  REQUIRE_FALSE(nested);
  CHECK(nested.error().message.find("n.txt:2") != std::string::npos);
  CHECK(nested.error().message.find("gone.txt") != std::string::npos);
}
