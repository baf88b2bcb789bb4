#include "providers/plugins/loaded_libraries.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "tests/plugins/attempts.h"

using namespace axle::plugins;

TEST_CASE("the libraries of this process are files, the C library among them") {
  const std::vector<std::string> libraries = loaded_libraries();
  if (libraries.empty()) {
    MESSAGE("skipped: this program is linked statically");
    return;
  }
  for (const std::string& library : libraries) {
    CAPTURE(library);
    CHECK(library.starts_with('/'));
    CHECK(::access(library.c_str(), R_OK) == 0);
  }
  CHECK(std::ranges::any_of(libraries,
                            [](const std::string& path) { return path.contains("/libc."); }));
}

TEST_CASE("only folders that the loader does not know are named to it, each once") {
  const std::vector<std::string> libraries = {
      "/lib/x86_64-linux-gnu/libc.so.6",
      "/usr/lib64/libz.so.1",
      "/opt/axle/lib/libfmt.so.9",
      "/opt/axle/lib/libisal.so.2",
      "/home/me/lib/liba.so",
      "/od:d/libb.so",
      "/$ORIGIN/libc.so",
  };
  CHECK(library_path_of(libraries) == "/opt/axle/lib:/home/me/lib");
  CHECK(library_path_of({}).empty());
}

TEST_CASE("a loader that does not start is not the fault of what it should have loaded") {
  const testing::ScratchFolder folder;
  Plugin plugin{"acme", PluginKind::shared_object, "/none.so", "/none.so"};
  AskOptions options;
  options.loader = folder.program("loader", "#!/bin/sh\necho no library >&2\nexit 127\n");
  const PluginAnswer answer = testing::ask(plugin, options);
  REQUIRE_FALSE(answer.features.has_value());
  CHECK(answer.features.error().fault == PluginFault::not_started);
  CHECK(answer.features.error().message == "the program that loads it did not start: no library");
  CHECK_FALSE(answer.features.error().hint.contains("authors"));
  const auto name = ask_namespace(plugin, options);
  REQUIRE_FALSE(name.has_value());
  CHECK(name.error().fault == PluginFault::not_started);
}
