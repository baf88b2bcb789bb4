#include "detect/drivers/loader_cache.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

using namespace axle::detect;
using namespace std::string_literals;

TEST_CASE("the loader's cache: paths are found among names and numbers") {
  const std::string cache =
      "glibc-ld.so.cache1.1\1\2\3\0\0libcudart.so.12\0/usr/local/cuda/lib64/libcudart.so.12\0"
      "libz.so.1\0/lib/x86_64-linux-gnu/libz.so.1\0/etc/passwd\0bad\x01.so\0/so.so/x\0/bad\x01.so\0"s;
  CHECK(paths_in_loader_cache(cache) ==
        std::vector<std::string>{"/usr/local/cuda/lib64/libcudart.so.12",
                                 "/lib/x86_64-linux-gnu/libz.so.1"});
  CHECK(paths_in_loader_cache("@\2/lib/libm.so.6\0"s) ==
        std::vector<std::string>{"/lib/libm.so.6"});
  CHECK(paths_in_loader_cache("").empty());
  CHECK(paths_in_loader_cache("/lib/libm.so.6").empty());
  CHECK(paths_in_loader_cache(std::string(5000, '/')).empty());
}

TEST_CASE("the loader's cache is searched for whole names with their paths") {
  const auto paths = [](std::string_view cache) {
    return paths_in_loader_cache(cache, "libcuda.so.1");
  };
  CHECK(paths("/lib/libcuda.so.12\0/lib/xlibcuda.so.1\0libcuda.so.1\0lib/libcuda.so.1\0"s).empty());
  CHECK(paths("/lib/libcuda.so.1"s).empty());
  CHECK(paths("\0/"s + std::string(5000, 'x') + "/libcuda.so.1\0"s).empty());
  CHECK(paths("/bad\x1b/libcuda.so.1\0"s).empty());
  CHECK(paths("@/a/libcuda.so.1\0/b/libcuda.so.1\0x\0"s) ==
        std::vector<std::string>{"/a/libcuda.so.1", "/b/libcuda.so.1"});
}

TEST_CASE("the loader's cache of this machine holds what ldconfig says") {
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  const std::string cache(std::istreambuf_iterator<char>(file), {});
  if (cache.empty() || std::system("/sbin/ldconfig -p > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: no /etc/ld.so.cache or no ldconfig");
    return;
  }
  const auto paths = paths_in_loader_cache(cache);
  FILE* pipe = popen("/sbin/ldconfig -p", "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[4096];
  while (const std::size_t got = fread(buffer, 1, sizeof(buffer), pipe)) text.append(buffer, got);
  pclose(pipe);
  std::istringstream lines(text);
  std::size_t compared = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find("=> ");
    if (arrow == std::string::npos) continue;
    const std::string path = line.substr(arrow + 3);
    if (!path.contains(".so")) continue;
    INFO(path);
    CHECK(std::find(paths.begin(), paths.end(), path) != paths.end());
    ++compared;
  }
  CHECK(compared > 0);
}
