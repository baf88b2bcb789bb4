#include "index/http/url.h"

#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "index/http/credentials.h"

using namespace axle::index;

TEST_CASE("references resolve as in the examples of RFC 3986 section 5.4") {
  const std::vector<std::pair<const char*, const char*>> examples = {
      // 5.4.1 normal examples
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {"g?y#s", "http://a/b/c/g?y#s"},
      {";x", "http://a/b/c/;x"},
      {"g;x", "http://a/b/c/g;x"},
      {"g;x?y#s", "http://a/b/c/g;x?y#s"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../", "http://a/"},
      {"../../g", "http://a/g"},
      // 5.4.2 abnormal examples
      {"../../../g", "http://a/g"},
      {"../../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {".g", "http://a/b/c/.g"},
      {"g..", "http://a/b/c/g.."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/./x", "http://a/b/c/g?y/./x"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"g#s/./x", "http://a/b/c/g#s/./x"},
      {"g#s/../x", "http://a/b/c/g#s/../x"},
      {"http:g", "http:g"},
  };
  for (const auto& [reference, expected] : examples) {
    CAPTURE(reference);
    CHECK(resolve_url("http://a/b/c/d;p?q", reference) == expected);
  }
}

TEST_CASE("the quick way of resolving page links agrees with the general one") {
  // A base with a dot segment in a place that changes nothing goes the general way.
  const std::vector<std::pair<const char*, const char*>> bases = {
      {"https://host/simple/name/", "https://host/./simple/name/"},
      {"https://host/", "https://host/./"},
      {"https://host/a//b/", "https://host/./a//b/"},
      {"file:///srv/index/simple/x/index.html", "file:///./srv/index/simple/x/index.html"}};
  for (const auto& [plain, dotted] : bases) {
    for (const char* reference :
         {"x-1.0.whl", "../../packages/x.whl", "../../../../x.whl", "../x?y=1", "a/b/../c", "a:b",
          "../a:b", "..", "../..", "../?q", "../#f", "https://other/a/../b", "https://other/a",
          "x#sha256=1", "", "//other/x"}) {
      CAPTURE(plain);
      CAPTURE(reference);
      const std::string expected = resolve_url(dotted, reference);
      if (*reference == '\0') continue;  // the base itself, dots kept
      CHECK(resolve_url(plain, reference) == expected);
    }
  }
}

TEST_CASE("user name and password are not shown") {
  CHECK(without_credentials("https://user:pw@host/simple/?a=b@c") == "https://host/simple/?a=b@c");
  CHECK(without_credentials("https://host/a@b") == "https://host/a@b");
}

TEST_CASE("percent encodings are undone once") {
  CHECK(percent_decode("a%2Bb%20c%zz%4") == "a+b c%zz%4");
  CHECK(percent_decode("%252B") == "%2B");
  CHECK(url_file_name("https://h/p/torch-2.9.0%2Bcu128-py3-none-any.whl?x=/y#sha256=1") ==
        "torch-2.9.0+cu128-py3-none-any.whl");
  CHECK(percent_encode("a+b/c d", false) == "a%2Bb%2Fc%20d");
}

TEST_CASE("file URLs and paths turn into each other") {
  CHECK(file_url("/srv/my index/ä+#") == "file:///srv/my%20index/%C3%A4%2B%23");
  CHECK(file_path(file_url("/srv/my index/ä+#?")).value() == "/srv/my index/ä+#?");
  CHECK(file_path("file://localhost/srv").value() == "/srv");
  CHECK(file_path("file:///a%00b").error().kind == axle::ErrorKind::malformed);
  const auto foreign = file_path("file://server/share");
  REQUIRE(!foreign);
  CHECK(foreign.error().message.find("server") != std::string::npos);
  CHECK(!foreign.error().hint.empty());
}

TEST_CASE("an origin has its default port and no case") {
  CHECK(url_origin("HTTPS://Host/x") == "https://host:443");
  CHECK(url_origin("https://u:p@host:443/") == url_origin("https://host"));
  CHECK(url_origin("http://host") != url_origin("https://host"));
  CHECK(url_origin("http://[::1]:8080/x") == "http://[::1]:8080");
  CHECK(url_origin("http://[::1]/x") == "http://[::1]:80");
  CHECK(url_origin("file:///x").empty());
}

TEST_CASE("this machine is known by its address, not by how a name begins") {
  for (const char* here :
       {"localhost", "LocalHost", "127.0.0.1", "127.8.9.10", "[::1]", "[0:0:0:0:0:0:0:1]"})
    CHECK_MESSAGE(is_loopback_host(here), here);
  for (const char* elsewhere : {"127.evil.example", "127.0.0.1.example", "127.", "127.0.0.1.",
                                "127.0.0.256", "128.0.0.1", "localhost.example", "x.localhost",
                                "::1", "[::1", "[::2]", "[::1].example", "", "10.0.0.1"})
    CHECK_MESSAGE(!is_loopback_host(elsewhere), elsewhere);
  CHECK(may_get_login("HTTPS://files.example/x", {}));
  CHECK(may_get_login("http://user:word@127.0.0.1:8080/x", {}));
  CHECK(may_get_login("http://trusted.example:9/x", {"trusted.example"}));
  for (const char* open : {"http://127.evil.example/", "http://127.0.0.1@evil.example/",
                           "http://127.0.0.1:80@evil.example/", "http://127.0.0.1.evil.example/"})
    CHECK_MESSAGE(!may_get_login(open, {"trusted.example"}), open);
}

TEST_CASE("a metadata link keeps the query behind its path") {
  CHECK(append_to_path("https://h/x.whl?token=1", ".metadata") ==
        "https://h/x.whl.metadata?token=1");
  CHECK(append_to_path("https://h/x.whl", ".metadata") == "https://h/x.whl.metadata");
}

TEST_CASE("credentials are found by server, those of the nearest folder first") {
  CredentialStore store({}, {}, {});
  store.remember("https://a:1@host/team/one/");
  store.remember("https://b%40x:2%3A@host/team/two");
  store.remember("https://host/none/");
  CHECK(store.find("https://host/team/two/file").user == "b@x");
  CHECK(store.find("https://host/team/two/file").password == "2:");
  CHECK(store.find("https://HOST:443/team/one/file").user == "a");
  CHECK(store.find("https://host/elsewhere").user == "a");
  CHECK(store.find("https://own:3@host/team/two/").user == "own");
  CHECK(store.find("http://host/team/one/").empty());
  CHECK(store.find("https://other/").empty());
}
