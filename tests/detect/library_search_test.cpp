#include "detect/drivers/library_search.h"

#include <doctest/doctest.h>

#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

TEST_CASE("LD_LIBRARY_PATH comes before the folders and these before the loader's cache") {
  RecordedHost host;
  const auto find = [&] { return LibrarySearch(host).find("libcuda.so.1"); };
  CHECK(find().empty());
  host.files["/etc/ld.so.cache"] =
      std::string("glibc-ld.so.cache1.1\0libcuda.so.1\0/opt/x/libcuda.so.1\0", 54);
  CHECK(find().empty());
  host.files["/opt/x/libcuda.so.1"] = "";
  CHECK(find() == "/opt/x/libcuda.so.1");
  host.files["/usr/lib64/libcuda.so.1"] = "";
  CHECK(find() == "/usr/lib64/libcuda.so.1");
  host.files["/stub/libcuda.so.1"] = "";
  host.variables["LD_LIBRARY_PATH"] = ":/nowhere:/stub:";
  CHECK(find() == "/stub/libcuda.so.1");
  LibrarySearch search(host);
  CHECK(search.find_on_path("libcuda.so.1") == "/stub/libcuda.so.1");
  CHECK(search.find_all("libcuda.so.1") == std::vector<std::string>{"/stub/libcuda.so.1",
                                                                    "/usr/lib64/libcuda.so.1",
                                                                    "/opt/x/libcuda.so.1"});
}
