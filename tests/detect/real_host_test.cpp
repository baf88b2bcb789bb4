// This machine, through the real host.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "detect/probe.h"

using namespace axle::detect;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "detect-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }

  std::string path;
};

}  // namespace

TEST_CASE("files, folders and links are read, and what is not there is not") {
  const Folder folder;
  std::ofstream(folder.path + "/b") << "content";
  std::ofstream(folder.path + "/a") << std::string(100000, 'x');
  fs::create_symlink("b", folder.path + "/link");
  const auto host = make_real_host();
  CHECK(host->read_file(folder.path + "/b") == "content");
  CHECK(host->read_file(folder.path + "/b", 3) == "con");
  CHECK(host->read_file(folder.path + "/a")->size() == 65536);
  CHECK_FALSE(host->read_file(folder.path + "/none").has_value());
  CHECK_FALSE(host->read_file(folder.path).has_value());
  CHECK(host->list_folder(folder.path) == std::vector<std::string>{"a", "b", "link"});
  CHECK(host->list_folder(folder.path + "/none").empty());
  CHECK(host->read_link(folder.path + "/link") == "b");
  CHECK_FALSE(host->read_link(folder.path + "/b").has_value());
  CHECK(host->accessible(folder.path + "/b", Access::read_write));
  CHECK_FALSE(host->accessible(folder.path + "/none", Access::exists));
}

TEST_CASE("a FIFO in place of a file does not block") {
  const Folder folder;
  const std::string path = folder.path + "/fifo";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(make_real_host()->read_file(path) == "");
}

TEST_CASE("work on a CPU leaves the affinity as it was") {
  const auto host = make_real_host();
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof(before), &before) == 0);
  unsigned first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  int ran_on = -1;
  CHECK(host->on_cpu(first, [&] { ran_on = ::sched_getcpu(); }));
  CHECK(ran_on == static_cast<int>(first));
  cpu_set_t after;
  REQUIRE(::sched_getaffinity(0, sizeof(after), &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
  CHECK_FALSE(host->on_cpu(1000000, [] { FAIL("there is no such CPU"); }));
}

TEST_CASE("work reaches a CPU outside the thread's own mask, which stays as it was") {
  cpu_set_t all;
  REQUIRE(::sched_getaffinity(0, sizeof(all), &all) == 0);
  if (CPU_COUNT(&all) < 2) {
    MESSAGE("skipped: this process has one CPU");
    return;
  }
  unsigned first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  unsigned other = first + 1;
  while (!CPU_ISSET(other, &all)) ++other;
  cpu_set_t pinned;
  CPU_ZERO(&pinned);
  CPU_SET(first, &pinned);
  REQUIRE(::sched_setaffinity(0, sizeof(pinned), &pinned) == 0);
  int ran_on = -1;
  CHECK(make_real_host()->on_cpu(other, [&] { ran_on = ::sched_getcpu(); }));
  CHECK(ran_on == static_cast<int>(other));
  cpu_set_t after;
  REQUIRE(::sched_getaffinity(0, sizeof(after), &after) == 0);
  CHECK(CPU_EQUAL(&pinned, &after));
  REQUIRE(::sched_setaffinity(0, sizeof(all), &all) == 0);
}

TEST_CASE("this machine has a kernel, a C library and CPUs") {
  const auto host = make_real_host();
  const Machine machine = probe_machine(*host);
  CHECK(machine.os.system == "Linux");
  CHECK_FALSE(machine.os.kernel.empty());
  CHECK_FALSE(machine.libc.family.empty());
  CHECK(machine.libc.major > 0);
  CHECK(machine.cpu.logical_cpus > 0);
  CHECK(machine.cpu.arch != Arch::other);
  CHECK(host->environment("PATH").has_value());
  CHECK_FALSE(host->environment("AXLE_NO_SUCH_VARIABLE").has_value());
}

TEST_CASE("detection asks for no AMX permission") {
  const auto host = make_real_host();
  const auto before = host->xcomp(XcompQuery::permitted);
  if (!before) MESSAGE("skipped: this kernel does not tell its extended state permissions");
  const Machine machine = probe_machine(*host);
  CHECK(host->xcomp(XcompQuery::permitted) == before);
  if (before)
    CHECK(machine.cpu.amx_permitted.value_or(false) ==
          ((*before & 0x60000) == 0x60000 &&
           machine.cpu.capabilities.of(Capability::amx_tile) != Presence::absent));
}
