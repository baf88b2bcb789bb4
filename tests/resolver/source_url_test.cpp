#include "resolver/request/source_url.h"

#include <doctest/doctest.h>

namespace {

using axle::resolver::SourceUrl;

/// "KIND URL revision subdirectory name", absent parts as "-"; or the error.
std::string told(const std::string& url) {
  const auto source = axle::resolver::parse_source_url(url);
  if (!source) return source.error().message;
  const char* kinds[] = {"wheel", "archive", "folder", "repository"};
  const auto part = [](const std::string& text) { return " " + (text.empty() ? "-" : text); };
  return kinds[static_cast<int>(source->kind)] + part(source->url) + part(source->revision) +
         part(source->subdirectory) + part(source->name);
}

}  // namespace

TEST_CASE("a URL names a wheel, an archive, a folder or a repository") {
  CHECK(told("https://h/a-1-py3-none-any.whl?x#sha256=1") ==
        "wheel https://h/a-1-py3-none-any.whl?x - - -");
  CHECK(told("https://h/a.tar.gz#sha256=1&egg=A_b") == "archive https://h/a.tar.gz - - a-b");
  CHECK(told("https://h/a.ZIP#subdirectory=x%20y/./z/") == "archive https://h/a.ZIP - x y/z -");
  CHECK(told("file:///a/b#subdirectory=.") == "folder file:///a/b - - -");
  CHECK(told("git+https://h/a") == "repository https://h/a - - -");
  CHECK(told("git+https://me:pw@h:1/a.git@v1.0/x#subdirectory=b&egg=c") ==
        "repository https://me:pw@h:1/a.git v1.0/x b c");
  CHECK(told("git+ssh://git@h/a") == "repository ssh://git@h/a - - -");
  CHECK(told("git+file:///a@b@c") == "repository file:///a@b c - -");
}

TEST_CASE("a URL that may not be followed is refused") {
  for (const char* url : {"https://h/a",
                          "hg+https://h/a",
                          "svn+ssh://h/a",
                          "git+ext::sh -c x",
                          "git+fd::1",
                          "git+ext://h/a",
                          "git+/a",
                          "git+https:///a",
                          "git+ssh://-oProxyCommand=x/a",
                          "git+ssh://-u@h/a",
                          "git+file://h/a",
                          "git+https://h/a@",
                          "git+https://h/a@-x",
                          "git+https://h/a@b c",
                          "https://h/a.zip#subdirectory=../b",
                          "https://h/a.zip#subdirectory=/b",
                          "https://h/a.zip#subdirectory=b/../../c",
                          "https://h/a.zip#subdirectory=%2E%2E",
                          "https://h/a.zip#subdirectory=a%00",
                          "https://h/a.zip#egg=",
                          "https://h/a.zip#egg=a[b]"}) {
    CAPTURE(url);
    const auto source = axle::resolver::parse_source_url(url);
    REQUIRE_FALSE(source.has_value());
    CHECK(source.error().kind == axle::ErrorKind::malformed);
  }
  CHECK_FALSE(told("git+https://me:secret@h/a@").contains("secret"));
}

TEST_CASE("what is stored of a URL has no login, but for git's user") {
  using axle::resolver::without_egg;
  using axle::resolver::without_login;
  CHECK(without_login("https://me:secret@h/a") == "https://h/a");
  CHECK(without_login("ssh://git@h/a") == "ssh://git@h/a");
  CHECK(without_login("ssh://me@h/a") == "ssh://h/a");
  CHECK(without_login("ssh://git:secret@h/a") == "ssh://h/a");
  CHECK(without_egg("https://h/a.zip#egg=a") == "https://h/a.zip");
  CHECK(without_egg("https://h/a.zip#sha256=1&egg=a&subdirectory=b") ==
        "https://h/a.zip#sha256=1&subdirectory=b");
  CHECK(without_egg("https://h/a.zip") == "https://h/a.zip");
  CHECK(axle::resolver::is_commit("0123456789abcdef0123456789abcdef01234567"));
  CHECK_FALSE(axle::resolver::is_commit("0123456"));
}
