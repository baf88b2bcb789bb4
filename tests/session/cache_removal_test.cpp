#include "session/cache/cache_removal.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <stdlib.h>

using axle::session::CachedThing;
using axle::session::CacheKind;
using axle::session::is_unused;

namespace fs = std::filesystem;

namespace {

CachedThing used_days_ago(CacheKind kind, std::int64_t days, std::uint64_t shared = 0) {
  CachedThing thing;
  thing.kind = kind;
  thing.used = -days * 24 * 60 * 60;
  thing.shared = shared;
  return thing;
}

}  // namespace

TEST_CASE("what is unused depends on its kind") {
  CHECK(is_unused(used_days_ago(CacheKind::leftovers, 0), 0));
  for (const CacheKind kind : {CacheKind::wheels, CacheKind::byte_code}) {
    CHECK_FALSE(is_unused(used_days_ago(kind, 29), 0));
    CHECK(is_unused(used_days_ago(kind, 31), 0));
    CHECK_FALSE(is_unused(used_days_ago(kind, 1000, 1), 0));
  }
  CHECK_FALSE(is_unused(used_days_ago(CacheKind::partial_wheels, 6), 0));
  CHECK(is_unused(used_days_ago(CacheKind::partial_wheels, 8), 0));
  for (const CacheKind kind : {CacheKind::built_wheels, CacheKind::plugin_environments,
                               CacheKind::models, CacheKind::build_trees}) {
    CHECK_FALSE(is_unused(used_days_ago(kind, 29), 0));
    CHECK(is_unused(used_days_ago(kind, 31), 0));
  }
  for (const CacheKind kind :
       {CacheKind::pages, CacheKind::metadata, CacheKind::interpreters, CacheKind::environments}) {
    CHECK_FALSE(is_unused(used_days_ago(kind, 89), 0));
    CHECK(is_unused(used_days_ago(kind, 91), 0));
  }
  CHECK_FALSE(is_unused(used_days_ago(CacheKind::first_downloads, 10000), 0));
  // A clock that was set back.
  CHECK_FALSE(is_unused(used_days_ago(CacheKind::pages, -500), 0));
}

TEST_CASE("a file is freed with its last name") {
  std::string folder = (fs::temp_directory_path() / "axle-freed-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  fs::create_directories(folder + "/one/deep");
  fs::create_directories(folder + "/two");
  std::ofstream(folder + "/one/deep/a") << "12345";
  std::ofstream(folder + "/one/b") << "123";
  fs::create_hard_link(folder + "/one/deep/a", folder + "/two/a");
  fs::create_symlink(folder + "/one", folder + "/two/link");
  axle::session::FreedBytes freed;
  freed.add(folder + "/one");
  CHECK(freed.bytes() == 3);
  freed.add(folder + "/two");
  CHECK(freed.bytes() == 8);
  freed.add(folder + "/none");
  CHECK(freed.bytes() == 8);
  fs::remove_all(folder);
}
