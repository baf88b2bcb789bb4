// In a process of its own: the heap of this one has grown already.
#include "foundation/system/large_pages.h"

#include <cstddef>
#include <fstream>
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// Of the heap: the lines of /proc/self/smaps that begin with "VmFlags:", together.
std::string heap_flags() {
  std::ifstream maps("/proc/self/smaps");
  std::string flags;
  bool in_heap = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) in_heap = line.ends_with("[heap]");
    if (in_heap && line.starts_with("VmFlags:")) flags += line.substr(8) + ' ';
  }
  return flags;
}

/// The exit status of a child process that calls `run`.
template <class Run>
int in_child(const Run& run) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("the heap grows in large pages, and is a heap all the same") {
  constexpr int other_heap = 2;
  const int flagged = in_child([] {
    void* const end = ::sbrk(0);
    axle::system::prefer_large_pages();
    // That of a sanitizer is somewhere else.
    if (::sbrk(0) == end) return other_heap;
    return heap_flags().contains(" hg ") ? 0 : 1;
  });
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good() ||
      flagged == other_heap) {
    MESSAGE("skipped: this system has no large pages, or another heap");
    return;
  }
  CHECK(!heap_flags().contains(" hg "));
  CHECK(flagged == 0);
  CHECK(in_child([] {
          axle::system::prefer_large_pages();
          constexpr std::size_t blocks = 3000;
          constexpr std::size_t block_bytes = 10'000;
          std::unique_ptr<char[]> kept[blocks];
          for (std::size_t i = 0; i < blocks; ++i) {
            kept[i] = std::make_unique<char[]>(block_bytes);
            kept[i][block_bytes - 1] = static_cast<char>(i);
          }
          for (std::size_t i = 0; i < blocks; i += 2) kept[i].reset();
          for (std::size_t i = 1; i < blocks; i += 2) {
            if (kept[i][block_bytes - 1] != static_cast<char>(i) || kept[i][0] != 0) return 1;
          }
          return 0;
        }) == 0);
}
