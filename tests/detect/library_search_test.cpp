#include "detect/library_search.h"

#include <doctest/doctest.h>

#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

TEST_CASE("LD_LIBRARY_PATH comes before the folders and these before the loader's cache") {
  RecordedHost host;
  CHECK(find_library(host, "libcuda.so.1").empty());
  host.files["/etc/ld.so.cache"] =
      std::string("glibc-ld.so.cache1.1\0libcuda.so.1\0/opt/x/libcuda.so.1\0", 54);
  CHECK(find_library(host, "libcuda.so.1") == "libcuda.so.1");
  host.files["/usr/lib64/libcuda.so.1"] = "";
  CHECK(find_library(host, "libcuda.so.1") == "/usr/lib64/libcuda.so.1");
  host.files["/stub/libcuda.so.1"] = "";
  host.variables["LD_LIBRARY_PATH"] = ":/nowhere:/stub:";
  CHECK(find_library(host, "libcuda.so.1") == "/stub/libcuda.so.1");
  CHECK(find_on_library_path(host, "libcuda.so.1") == "/stub/libcuda.so.1");
}

TEST_CASE("the loader's cache is searched for whole names") {
  RecordedHost host;
  host.files["/etc/ld.so.cache"] = std::string("xlibcuda.so.1\0libcuda.so.12\0", 28);
  CHECK(find_library(host, "libcuda.so.1").empty());
}
