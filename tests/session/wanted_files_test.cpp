#include "session/downloads/wanted_files.h"

#include <doctest/doctest.h>

namespace axle::session {
namespace {

plan::ResolvedPackage package(std::string filename, std::string url, std::string sha256) {
  plan::ResolvedPackage one;
  one.filename = std::move(filename);
  one.url = std::move(url);
  if (!sha256.empty())
    one.hash = wheel::expected_sha256(std::move(sha256), wheel::HashSource::index);
  return one;
}

}  // namespace

TEST_CASE("a file that several machines need is wanted once") {
  const std::string hash(64, 'a');
  std::vector<WantedFile> wanted;
  plan::ResolvedPackage variant = package("demo-1-py3-none-any-v4.whl", "https://a/demo", hash);
  variant.variants_file = {"demo-1-variants.json", "https://a/variants", {}};
  CHECK(add_wanted(wanted, {{variant}}, "one"));
  CHECK(add_wanted(wanted, {{variant}}, "two"));
  // The same bytes from another place.
  CHECK(add_wanted(wanted, {{package(variant.filename, "https://b/demo", hash)}}, "three"));
  REQUIRE(wanted.size() == 2);
  CHECK(wanted[0].machines == std::vector<std::string>{"one", "two", "three"});
  CHECK_FALSE(wanted[0].is_variants_file);
  CHECK(wanted[1].machines == std::vector<std::string>{"one", "two"});
  CHECK(wanted[1].is_variants_file);
  CHECK(wanted[1].file.url == "https://a/variants");
}

TEST_CASE("two files of one name do not go into one folder") {
  const std::string name = "demo-1-py3-none-any.whl";
  for (const auto& [one, other] :
       {std::pair(std::string(64, 'a'), std::string(64, 'b')),
        std::pair(std::string(), std::string()), std::pair(std::string(64, 'a'), std::string())}) {
    std::vector<WantedFile> wanted;
    CHECK(add_wanted(wanted, {{package(name, "https://a/cu126/" + name, one)}}, "old"));
    const auto added =
        add_wanted(wanted, {{package(name, "https://u:secret@a/cu130/" + name, other)}}, "new");
    REQUIRE_FALSE(added);
    CHECK(added.error().kind == ErrorKind::conflict);
    CHECK(added.error().message.find(name) != std::string::npos);
    CHECK(added.error().message.find("secret") == std::string::npos);
  }
}

}  // namespace axle::session
