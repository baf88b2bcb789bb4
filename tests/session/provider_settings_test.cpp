#include "session/plugins/provider_settings.h"

#include <filesystem>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

using namespace axle::session;
using axle::plugins::PluginKind;

namespace {

constexpr std::string_view digits =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

}  // namespace

TEST_CASE("settings survive being written and read") {
  ProviderSettings settings;
  settings.enabled = {"one"};
  settings.disabled = {"two"};
  settings.packages = {{"acme-provider", ""}, {"other", "ns", {"/dev/acme*"}}};
  settings.files = {{"/opt/a \"b\\c/\x01 d",
                     "acme",
                     PluginKind::shared_object,
                     std::string(digits),
                     {"/dev/one", "/dev/two[0-9]"}}};
  settings.time_limit = 5;
  settings.memory_limit = 512;
  const std::string text = render_provider_settings(settings);
  const auto again = parse_provider_settings(text, "providers.toml");
  REQUIRE(again.has_value());
  CHECK(render_provider_settings(*again) == text);
  CHECK(again->files[0].path == settings.files[0].path);
  CHECK(again->files[0].devices == settings.files[0].devices);
  CHECK(again->packages[1].devices == settings.packages[1].devices);
  CHECK(again->files[0].kind == PluginKind::shared_object);
  CHECK(again->trusts("acme-provider", "anything"));
  CHECK(again->trusts("other", "ns"));
  CHECK_FALSE(again->trusts("other", "anything"));
  CHECK_FALSE(again->trusts("nobody", "ns"));
}

TEST_CASE("an empty settings file trusts nothing") {
  const auto settings = parse_provider_settings("schema = 1\n", "providers.toml");
  REQUIRE(settings);
  CHECK(settings->packages.empty());
  CHECK(settings->files.empty());
  CHECK(settings->disabled.empty());
}

TEST_CASE("invalid settings are rejected") {
  const std::string file = fmt::format(
      "path = \"/p\"\nkind = \"executable\"\nnamespace = \"a\"\nsha256 = \"{}\"\n", digits);
  const auto sound = parse_provider_settings("schema = 1\n[[trusted]]\n" + file, "providers.toml");
  CHECK(sound.has_value());
  for (const std::string& body : {
           std::string("enabeld = []"),
           std::string("enabled = \"x\""),
           std::string("enabled = [\"A-B\"]"),
           std::string("time-limit = 0"),
           std::string("time-limit = \"5\""),
           std::string("memory-limit = 1"),
           std::string("trusted = 1"),
           std::string("[[trusted]]\nname = \"x\""),
           std::string("[[trusted]]\npackage = \"x\"\ndevices = [\"/dev/*\"]"),
           std::string("[[trusted]]\npackage = \"x\"\ndevices = \"/dev/x\""),
           std::string("[[trusted]]\npackage = \"../x\""),
           std::string("[[trusted]]\npackage = \"x\"\nnamespace = \"X\""),
           std::string("[[trusted]]\npackage = \"x\"\nsha256 = \"y\""),
           "[[trusted]]\npackage = \"x\"\n" + file,
           "[[trusted]]\n" + file + "more = 1\n",
           std::string("[[trusted]]\npath = \"/p\"\nkind = \"executable\"\nnamespace = \"a\""),
           "[[trusted]]\nkind = \"python\"\n" + file.substr(0, 13) + file.substr(33),
       }) {
    CAPTURE(body);
    const auto settings = parse_provider_settings("schema = 1\n" + body + "\n", "providers.toml");
    REQUIRE_FALSE(settings.has_value());
    CHECK(settings.error().message.find("providers.toml") != std::string::npos);
  }
  CHECK_FALSE(parse_provider_settings("", "providers.toml").has_value());
  CHECK_FALSE(parse_provider_settings("schema = 2", "providers.toml").has_value());
}

TEST_CASE("the command line has precedence") {
  ProviderSettings settings;
  settings.enabled = {"one"};
  settings.disabled = {"two", "three"};
  Arguments arguments;
  arguments.add(Opt::enable_provider, "two");
  arguments.add(Opt::disable_provider, "one");
  const auto policy = provider_policy(settings, arguments);
  REQUIRE(policy.has_value());
  CHECK(policy->disabled == std::set<std::string, std::less<>>{"one", "three"});
  CHECK(policy->enabled.contains("two"));
  arguments.add(Opt::enable_provider, "No Namespace");
  CHECK_FALSE(provider_policy(settings, arguments).has_value());
}

TEST_CASE("settings that cannot be written whole say why, and those before stay") {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "axle-settings-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const char* const before = ::getenv("XDG_CONFIG_HOME");
  const std::optional<std::string> kept = before != nullptr ? std::optional(before) : std::nullopt;
  ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
  const auto enable = [](const char* ns) {
    return change_provider_settings([&](ProviderSettings& settings) -> Outcome<void> {
      settings.enabled.insert(ns);
      return {};
    });
  };
  CHECK(enable("first"));
  // As on a full disk: the first write takes a part, the next one says why.
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit own{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &own) == 0);
  const rlimit small{8, own.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto refused = enable("second");
  ::setrlimit(RLIMIT_FSIZE, &own);
  ::signal(SIGXFSZ, handler);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error.message ==
        folder + "/axle/providers.toml: cannot be written: File too large");
  const auto settings = read_provider_settings();
  REQUIRE(settings);
  CHECK(settings->enabled == decltype(settings->enabled){"first"});
  CHECK(std::distance(fs::directory_iterator(folder + "/axle"), {}) == 1);
  kept ? ::setenv("XDG_CONFIG_HOME", kept->c_str(), 1) : ::unsetenv("XDG_CONFIG_HOME");
  fs::remove_all(folder);
}
