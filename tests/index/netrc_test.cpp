#include "index/http/netrc.h"

#include <doctest/doctest.h>

#include "index/http/credentials.h"
#include "tests/index/sample_wheels.h"

using namespace axle::index;
using axle::ErrorKind;

namespace {

CredentialStore store_of(std::string_view netrc, PasswordSource keyring = {}) {
  auto entries = parse_netrc(netrc, "netrc");
  REQUIRE(entries);
  return CredentialStore(std::move(*entries), {}, std::move(keyring));
}

std::string login(const Credential& credential) {
  return credential.user + ":" + credential.password;
}

}  // namespace

TEST_CASE("a netrc file is read word by word") {
  const auto entries = parse_netrc(
      "# machine no login no password no\n"
      "machine a.test login anna password \"two \\\"words\\\"\"\n"
      "macdef init\nmachine not this\n\n"
      "machine b.test\n\tlogin bert\r\n\taccount x password #1\n"
      "machine c.test login without\n"
      "default login anybody password p\n",
      "netrc");
  REQUIRE(entries);
  REQUIRE(entries->size() == 3);
  CHECK((*entries)[0].machine == "a.test");
  CHECK((*entries)[0].password == "two \"words\"");
  CHECK((*entries)[1].login == "bert");
  CHECK((*entries)[1].password == "#1");
  CHECK((*entries)[2].machine.empty());
}

TEST_CASE("a netrc file that is damaged is refused with its line, and its words are not repeated") {
  const std::pair<const char*, const char*> rows[] = {
      {"machine a login b password c\nsecret\n", "netrc:2: an unknown keyword"},
      {"\n\nlogin a", "netrc:3: `login` before any machine"},
      {"machine a\nlogin", "netrc:2: `login` without a value"},
      {"machine", "netrc:1: `machine` without a value"}};
  for (const auto& [text, message] : rows) {
    CAPTURE(text);
    const auto entries = parse_netrc(text, "netrc");
    REQUIRE(!entries);
    CHECK(entries.error().message == message);
    CHECK(entries.error().kind == ErrorKind::malformed);
    CHECK(!entries.error().hint.empty());
  }
}

TEST_CASE("a netrc file that is too long or a folder is refused") {
  const axle::test::TemporaryFolder folder;
  CHECK(!read_netrc(folder.path()));
  axle::test::write_file(folder / "netrc", std::string((1U << 20) + 1, ' '));
  CHECK(!read_netrc(folder / "netrc"));
  CHECK(read_netrc(folder / "absent").error().kind == ErrorKind::not_found);
}

TEST_CASE("a login is that of the URL, of its folder, of its server, of netrc") {
  CredentialStore store = store_of(
      "machine host login anna password 1\nmachine host login bert password 2\n"
      "default login any password 3\n");
  CHECK(login(store.find("https://host/x")) == "bert:2");
  CHECK(login(store.find("https://anna@host/x")) == "anna:1");
  CHECK(login(store.find("https://carl@host/x")) == "carl:");
  CHECK(login(store.find("https://other/x")) == "any:3");
  store.remember("https://user:pw@host/a");
  store.remember("https://user2:pw2@host/b/");
  CHECK(login(store.find("https://host/b/x")) == "user2:pw2");
  CHECK(login(store.find("https://host/b")) == "user2:pw2");
  CHECK(login(store.find("https://host/bc")) == "user:pw");
  CHECK(login(store.find("https://own:x@host/b/x")) == "own:x");
  for (const char* elsewhere : {"http://host/a/x", "https://host:8443/a/x", "https://host.evil/a/x",
                                "https://evil/host/a"}) {
    CAPTURE(elsewhere);
    CHECK(store.find(elsewhere).password != "pw");
  }
}

TEST_CASE("the keyring is asked for the index, then for the host, and once") {
  std::vector<std::string> asked;
  CredentialStore store = store_of("", [&](const std::string& service, const std::string& user) {
    asked.push_back(user + " " + service);
    return axle::Result<std::optional<std::string>>(
        service == "host:81" ? std::optional<std::string>("pw") : std::nullopt);
  });
  CHECK(!*store.ask_keyring("http://host:81/simple/x"));
  CHECK(asked.empty());
  store.remember("http://me@host:81/simple");
  for (const char* url : {"http://host:81/simple/x/", "http://host:81/files/x.whl"}) {
    const auto answer = store.ask_keyring(url);
    REQUIRE(answer);
    REQUIRE(*answer);
    CHECK(login(**answer) == "me:pw");
  }
  CHECK(asked == std::vector<std::string>{"me http://host:81/simple", "me http://host:81/simple/",
                                          "me host:81"});
  CHECK(login(store.find("http://host:81/files/y")) == "me:pw");
  CHECK(store.find("http://host:82/files/y").empty());
}

TEST_CASE("an index may say that it wants no login") {
  CredentialStore store({{"host", "me", "pw"}},
                        {{"https://host/public", Authenticate::never},
                         {"https://host/private", Authenticate::always}},
                        {});
  CHECK(store.find("https://host/public/x").empty());
  CHECK(login(store.find("https://host/private/x")) == "me:pw");
  CHECK(store.policy("https://host/private") == Authenticate::always);
  CHECK(store.policy("https://host/other") == Authenticate::when_known);
}
