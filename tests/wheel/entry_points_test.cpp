#include "wheel/entry_points.h"

#include <doctest/doctest.h>

using namespace axle::wheel;
using axle::ErrorKind;

TEST_CASE("entry points of both kinds are read and other groups passed over") {
  const auto scripts = parse_entry_points(
      "# comment\n[other]\nanything = goes here\n[console_scripts]\r\n say = pkg.mod:main.run "
      "[extra]\r\n"
      "; comment\n[gui_scripts]\nwin=pkg:gui\n",
      "entry_points.txt");
  REQUIRE(scripts.has_value());
  REQUIRE(scripts->size() == 2);
  CHECK((*scripts)[0] == ScriptEntry{"say", "pkg.mod", "main.run", false});
  CHECK((*scripts)[1] == ScriptEntry{"win", "pkg", "gui", true});
}

TEST_CASE("entry points that are not plain scripts are rejected with their line") {
  for (const char* line : {"../../../evil = a:b",
                           "a/b = a:b",
                           "python3 = a:b",
                           "PYTHON3.11 = a:b",
                           "python3.13t = a:b",
                           "activate = a:b",
                           ". = a:b",
                           ".. = a:b",
                           "-rf = a:b",
                           " = a:b",
                           "a b = a:b",
                           "x = a",
                           "x = a:",
                           "x = a:b;import os",
                           "x = a b:c",
                           "x = a:b\"",
                           "x = 1a:b",
                           "x = a:b]",
                           "x",
                           "x = a:b\nx = a:c"}) {
    CAPTURE(line);
    const auto scripts =
        parse_entry_points("[console_scripts]\n" + std::string(line) + "\n", "entry_points.txt");
    REQUIRE_FALSE(scripts.has_value());
    CHECK(scripts.error().kind == ErrorKind::malformed);
    CHECK(scripts.error().message.starts_with("entry_points.txt:"));
  }
}

TEST_CASE("names that only begin like an interpreter's are not reserved") {
  for (const char* name : {"python-config2", "pythonize", "pypi-upload", "python_tool",
                           "activate-global", "python3-say", "pip3.11"}) {
    CAPTURE(name);
    CHECK_FALSE(is_reserved_script(name));
  }
  for (const char* name :
       {"python", "Python.exe", "python3", "python3.14t", "pythonw", "pypy3", "graalpy"}) {
    CAPTURE(name);
    CHECK(is_reserved_script(name));
  }
}

TEST_CASE("provider plugins are the entry points of group variant_plugins") {
  const auto plugins = axle::wheel::parse_plugin_entry_points(
      "[console_scripts]\nx = y:z\n\n[variant_plugins]\n# two\nacme = acme_provider\n"
      "old_2=old.plugin:Old.Inner\n[other]\nnone\n",
      "entry_points.txt");
  REQUIRE(plugins.has_value());
  const std::vector<axle::wheel::PluginEntry> expected = {{"acme", "acme_provider"},
                                                          {"old_2", "old.plugin:Old.Inner"}};
  CHECK(*plugins == expected);
  CHECK(axle::wheel::parse_plugin_entry_points("", "entry_points.txt")->empty());
}

TEST_CASE("plugins with an invalid name or reference are rejected with their line") {
  for (const char* line : {"Acme = a", "= a", "a-b = a", "acme", "acme =", "acme = a:", "acme = :b",
                           "acme = a b", "acme = a.b:c:d", "acme = 1a", "acme = a;import os"}) {
    CAPTURE(line);
    const auto plugins = axle::wheel::parse_plugin_entry_points(
        "[variant_plugins]\n" + std::string(line) + "\n", "entry_points.txt");
    REQUIRE_FALSE(plugins.has_value());
    CHECK(plugins.error().message.starts_with("entry_points.txt:2: "));
  }
  const auto twice =
      axle::wheel::parse_plugin_entry_points("[variant_plugins]\na = b\na = c\n", "e");
  REQUIRE_FALSE(twice.has_value());
  CHECK(twice.error().message.find("duplicate") != std::string::npos);
}
