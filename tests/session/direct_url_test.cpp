#include "session/direct_url.h"

#include <string>

#include <doctest/doctest.h>

#include "session/inventory.h"

using axle::session::read_direct_url;

namespace {

axle::installer::InstalledDistribution installed_from(std::string direct_url) {
  axle::installer::InstalledDistribution distribution;
  distribution.metadata.name = "demo";
  distribution.metadata.version = *axle::wheel::parse_version("1.0");
  distribution.direct_url = std::move(direct_url);
  return distribution;
}

}  // namespace

TEST_CASE("what pip and uv write is read") {
  const auto archive = read_direct_url(
      R"({"url": "https://a.example/demo.whl", "archive_info": {"hash": "sha256=ab", "hashes": {"sha512": "cd"}}})");
  CHECK(archive.url == "https://a.example/demo.whl");
  CHECK(archive.hashes.at("sha256") == "ab");
  CHECK(archive.hashes.at("sha512") == "cd");
  const auto folder = read_direct_url(R"({"url": "file:///src", "dir_info": {"editable": true}})");
  CHECK(folder.folder);
  CHECK(folder.editable);
  const auto repository = read_direct_url(
      R"({"url": "https://a.example/demo", "vcs_info": {"vcs": "git", "commit_id": "12ab"}})");
  CHECK(repository.repository);
  CHECK(repository.vcs == "git");
  CHECK(repository.commit == "12ab");
  CHECK(
      axle::session::pinned_requirement(installed_from(
          R"({"url": "ssh://git@h/d", "subdirectory": "x", "vcs_info": {"vcs": "git", "commit_id": "12ab"}})")) ==
      "demo @ git+ssh://git@h/d@12ab#subdirectory=x");
  CHECK(
      axle::session::pinned_requirement(installed_from(
          R"({"url": "https://h/d.zip", "subdirectory": "x", "archive_info": {"hashes": {"sha256": "ab"}}})")) ==
      "demo @ https://h/d.zip#sha256=ab&subdirectory=x");
}

TEST_CASE("a direct_url.json of any shape is harmless") {
  const std::string shapes[] = {"[]", "{}", "null", "1", "true", "\"x\"", "[[]]", "{\"a\": []}"};
  for (const std::string& shape : shapes) {
    CHECK(read_direct_url(shape).url.empty());
    for (const char* part : {"url", "archive_info", "dir_info", "vcs_info"}) {
      CAPTURE(part);
      CAPTURE(shape);
      const auto odd =
          installed_from(R"({"url": "file:///d", ")" + std::string(part) + "\": " + shape + "}");
      CHECK_FALSE(axle::session::pinned_requirement(odd).empty());
      CHECK_FALSE(axle::session::editable_place(odd).has_value());
    }
    const std::pair<const char*, const char*> inner[] = {{"archive_info", "hashes"},
                                                         {"archive_info", "hash"},
                                                         {"dir_info", "editable"},
                                                         {"vcs_info", "vcs"},
                                                         {"vcs_info", "commit_id"}};
    CHECK(read_direct_url(R"({"url": "file:///d", "subdirectory": "a\nb"})").subdirectory.empty());
    for (const auto& [part, key] : inner) {
      CAPTURE(key);
      CAPTURE(shape);
      const auto odd = installed_from(R"({"url": "file:///d", ")" + std::string(part) + "\": {\"" +
                                      key + "\": " + shape + "}}");
      const bool editable = std::string_view(key) == "editable" && shape == "true";
      CHECK(axle::session::pinned_requirement(odd) == (editable ? "-e /d" : "demo @ file:///d"));
      CHECK(axle::session::editable_place(odd).has_value() == editable);
    }
  }
}

TEST_CASE("nothing of direct_url.json adds a line to what freeze prints") {
  CHECK(read_direct_url(R"({"url": "https://a.example/\n--index-url x"})").url.empty());
  CHECK(read_direct_url(
            R"({"url": "https://a.example/", "archive_info": {"hashes": {"sha256": "1\n2"}}})")
            .hashes.empty());
}
