#include "providers/plugins/grants.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace axle::plugins;

TEST_CASE("the table of exceptions is short and says no more than it must") {
  for (const NamespaceGrants& row : grants_table()) {
    CAPTURE(std::string(row.ns));
    for (const std::string_view program : row.programs)
      CHECK(program.find('/') == std::string_view::npos);
    for (const std::string_view device : row.devices) CHECK(device.starts_with("/dev/"));
    for (const std::string_view path : row.readable) {
      CHECK((path.starts_with("/opt/") || path.starts_with("/etc/")));
      CHECK(path != "/opt/");
    }
    for (const std::string_view variable : row.variables) {
      CHECK_FALSE(variable.starts_with("LD_"));
      CHECK_FALSE(variable.starts_with("PYTHON"));
    }
  }
  CHECK(grants_of("acme") == nullptr);
  CHECK(grants_of("amd") != nullptr);
}

TEST_CASE("an unknown namespace is granted nothing") {
  const Grants grants = granted_to("acme", {});
  CHECK(grants.programs.empty());
  CHECK(grants.devices.empty());
  CHECK(grants.readable.empty());
}

TEST_CASE("a user grants device nodes, by name") {
  for (const char* pattern :
       {"/dev/acme", "/dev/acme0", "/dev/acme*", "/dev/acme/[0-9]", "/dev/a?"})
    CHECK_MESSAGE(is_device_pattern(pattern), std::string(pattern));
  for (const char* pattern :
       {"", "/dev/", "/dev", "/dev/*", "/dev/?", "/dev/[a-z]*", "/dev//acme", "/dev/./acme",
        "/dev/acme/../mem", "/dev/shm/../../etc/shadow", "/etc/shadow", "acme0", "/dev/acme 0",
        "/dev/acme\n", "/dev/ac\xc3\xbcme"})
    CHECK_FALSE_MESSAGE(is_device_pattern(pattern), std::string(pattern));
}

TEST_CASE("of what a pattern matches, only devices are granted, and none that all programs share") {
  const std::vector<std::string> patterns = {"/dev/null", "/dev/zero",  "/dev/mem",  "/dev/tty*",
                                             "/dev/ptmx", "/dev/pts/*", "/dev/shm",  "/dev/shm/*",
                                             "/dev/sd*",  "/dev/vd*",   "/dev/loop*"};
  const std::vector<std::string> nodes = device_nodes(patterns);
  // Loops are block devices; /dev/loop-control is the one character device here.
  const std::string control = "/dev/loop-control";
  for (const std::string& node : nodes) CHECK(node == control);
  if (::access(control.c_str(), F_OK) != 0) {
    MESSAGE("skipped: that something is granted at all, for want of " << control);
    return;
  }
  CHECK(nodes.size() == 1);
}

TEST_CASE("a variable that names a folder grants that folder, not the whole system") {
  const auto granted = [](const std::string& value) {
    const std::pair<std::string, std::string> variables[] = {{"ROCM_PATH", value}};
    const auto readable = granted_to("amd", variables).readable;
    return std::ranges::find(readable, value) != readable.end();
  };
  CHECK(granted("/somewhere/rocm-6.4"));
  CHECK_FALSE(granted("/"));
  CHECK_FALSE(granted("/home"));
  CHECK_FALSE(granted("/home/"));
  CHECK_FALSE(granted("//"));
  CHECK_FALSE(granted("relative/rocm"));
  CHECK_FALSE(granted("/somewhere/../"));
  CHECK_FALSE(granted(""));
}

TEST_CASE("a plugin sees the masks and its own variables, not those of others") {
  const auto sees = [](std::string_view ns, std::string_view name) {
    const auto passed = passed_variables(ns);
    return std::ranges::find(passed, name) != passed.end();
  };
  CHECK(sees("acme", "CUDA_VISIBLE_DEVICES"));
  CHECK(sees("nvidia", "NV_VARIANT_PROVIDER_FORCE_SM_ARCH"));
  CHECK_FALSE(sees("acme", "NV_VARIANT_PROVIDER_FORCE_SM_ARCH"));
  CHECK_FALSE(sees("nvidia", "HOME"));
  CHECK_FALSE(sees("nvidia", "LD_LIBRARY_PATH"));
  CHECK_FALSE(sees("nvidia", "LD_PRELOAD"));
}

TEST_CASE("the page for users names every exception") {
  std::ifstream file(AXLE_SOURCE_DIR "/docs/plugins.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  REQUIRE_FALSE(page.empty());
  for (const NamespaceGrants& row : grants_table()) {
    if (row.programs.empty() && row.devices.empty() && row.readable.empty()) continue;
    const std::size_t start = page.find("| `" + std::string(row.ns) + "` |");
    REQUIRE_MESSAGE(start != std::string::npos, std::string(row.ns));
    const std::string line = page.substr(start, page.find('\n', start) - start);
    for (const auto& words : {row.programs, row.devices}) {
      for (const std::string_view word : words)
        CHECK_MESSAGE(line.find("`" + std::string(word) + "`") != std::string::npos,
                      std::string(word));
    }
  }
}
