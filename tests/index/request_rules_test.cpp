#include "index/serve/request_rules.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "index/publish/record_parts.h"

using namespace axle::index;

TEST_CASE("paths of requests are split and decoded once") {
  using Parts = std::vector<std::string>;
  CHECK(parse_request_path("/") == Parts{""});
  CHECK(parse_request_path("/simple/demo/") == Parts{"simple", "demo", ""});
  CHECK(parse_request_path("/simple/demo/a%2Bb%20c") == Parts{"simple", "demo", "a+b c"});
  CHECK(parse_request_path("/%2565") == Parts{"%65"});
  for (const char* path : {"", "simple", "//x", "/a//b", "/.", "/..", "/a/../b", "/%2e%2E",
                           "/a%2fb", "/.hidden", "/a%00b", "/%", "/%4", "/%zz", "/a\nb", "/a%0a"}) {
    CAPTURE(path);
    CHECK(!parse_request_path(path).has_value());
  }
}

TEST_CASE("ranges are clipped, and what is none is all") {
  const auto part = [](const char* range) {
    const RequestedRange read = parse_range(range, 100);
    return std::pair(read.offset, read.length);
  };
  CHECK(part("bytes=0-0") == std::pair<std::uint64_t, std::uint64_t>(0, 1));
  CHECK(part("bytes=90-200") == std::pair<std::uint64_t, std::uint64_t>(90, 10));
  CHECK(part("bytes=-5") == std::pair<std::uint64_t, std::uint64_t>(95, 5));
  CHECK(part("bytes=-500") == std::pair<std::uint64_t, std::uint64_t>(0, 100));
  CHECK(parse_range("bytes=100-", 100).wanted == WantedRange::none_of_it);
  CHECK(parse_range("bytes=-0", 100).wanted == WantedRange::none_of_it);
  CHECK(parse_range("bytes=0-", 0).wanted == WantedRange::none_of_it);
  for (const char* range : {"", "bytes=", "bytes=-", "bytes=5-1", "bytes=1-2,3-4", "chars=1-2",
                            "bytes=1", "bytes=+1-2", "bytes=18446744073709551616-"}) {
    CAPTURE(range);
    CHECK(parse_range(range, 100).wanted == WantedRange::all);
  }
}

TEST_CASE("a record is an entry of a project page") {
  const std::string hash(64, 'a');
  const std::string good =
      R"({"filename":"My_Demo-1.0-py3-none-any-v3.whl","url":"https://f.example/My_Demo-1.0-py3-none-any-v3.whl?a=b",)"
      R"("hashes":{"sha256":")" +
      hash + R"("},"size":7,"yanked":"why"})";
  const auto record = parse_record(good, "w");
  REQUIRE(record.has_value());
  CHECK(record->project == "my-demo");
  CHECK(record->file.url == "https://f.example/My_Demo-1.0-py3-none-any-v3.whl?a=b");
  CHECK(record->file.yanked == "why");
  CHECK(!parse_record(good + "," + good, "w").has_value());
  CHECK(!parse_record(good + "]", "w").has_value());
  CHECK(!parse_record("", "w").has_value());
  const auto with = [&](const std::string& name, const std::string& url) {
    return parse_record(fmt::format(R"({{"filename":"{}","url":"{}","hashes":{{"sha256":"{}"}},)"
                                    R"("size":7}})",
                                    name, url, hash),
                        "w");
  };
  CHECK(with("my_demo-1.0-variants.json", "my_demo-1.0-variants.json")->project == "my-demo");
  // Installers take the name of a file from its link (PEP 503).
  CHECK(!with("demo-1.0-py3-none-any.whl", "https://f.example/demo-2.0-py3-none-any.whl"));
  CHECK(!with("demo-1.0-py3-none-any.whl", "https://f.example/download?id=7"));
  for (const char* name :
       {"demo-variants.json", "demo--variants.json", "demo-x-variants.json", "-variants.json",
        "demo-1.0-0-variants.json", "Demo-1.0-variants.json", "demo-1.0-alpha1-variants.json",
        "my-demo-1.0-variants.json", "demo-01.0-variants.json", "-1.0-variants.json"})
    CHECK_MESSAGE(!with(name, name), name);
}
