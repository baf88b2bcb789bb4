#include "detect/drivers/library_trust.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace axle::detect;

namespace {

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/axle-trust-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
    std::ofstream(file()) << "library";
    REQUIRE(::chmod(file().c_str(), 0644) == 0);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file() const { return path_ + "/libx.so.1"; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("a user may load anything, root and elevated programs only what others cannot write") {
  const Folder folder;
  const std::string file = folder.file();
  for (const Privilege privilege : {Privilege::root, Privilege::elevated}) {
    CHECK(refuse_file(file, privilege).empty());
    REQUIRE(::chmod(file.c_str(), 0666) == 0);
    CHECK(refuse_file(file, privilege).find("is world-writable") != std::string::npos);
    CHECK(refuse_file(file, Privilege::user).empty());
    REQUIRE(::chmod(file.c_str(), 0644) == 0);
    REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
    CHECK_FALSE(refuse_file(file, privilege).empty());
    // As in /tmp, nobody can put another file in its place.
    REQUIRE(::chmod(folder.path().c_str(), 01777) == 0);
    CHECK(refuse_file(file, privilege).empty());
    REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
  }
  CHECK(refuse_file(folder.path() + "/none", Privilege::root).empty());
}

TEST_CASE("a link is as trustworthy as its target") {
  const Folder real;
  const Folder named;
  const std::string link = named.path() + "/liby.so.1";
  std::filesystem::create_symlink(real.file(), link);
  CHECK(refuse_file(link, Privilege::root).empty());
  REQUIRE(::chmod(real.path().c_str(), 0777) == 0);
  CHECK_FALSE(refuse_file(link, Privilege::root).empty());
}

TEST_CASE("files of other users are refused to root") {
  if (::geteuid() != 0) {
    MESSAGE("SKIPPED: only root can give a file to another user");
    return;
  }
  const Folder folder;
  REQUIRE(::chown(folder.file().c_str(), 4711, 4711) == 0);
  CHECK(refuse_file(folder.file(), Privilege::root).find("another user") != std::string::npos);
  // In a container that maps no root, everyone else's; where all are mapped, the user nobody's.
  REQUIRE(::chown(folder.file().c_str(), 65534, 65534) == 0);
  std::ifstream map("/proc/self/uid_map");
  const std::string users(std::istreambuf_iterator<char>(map), {});
  const bool all = users.find(" 4294967295\n") != std::string::npos;
  CHECK(refuse_file(folder.file(), Privilege::root).empty() != all);
}

TEST_CASE("this test runs with the rights of whoever started it") {
  CHECK(own_privilege() == (::geteuid() == 0 ? Privilege::root : Privilege::user));
}
