// What is installed, judged by Python itself.

#include <cstdio>
#include <filesystem>

#include <doctest/doctest.h>

#include "installer/environment/installed.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;

TEST_CASE("Python finds the same packages, whole, and imports and runs them") {
  const Sandbox folder;
  // A space in the path: scripts go through sh.
  const std::string prefix = folder / "an environment";
  if (!make_venv(prefix)) return;
  EnvironmentRequest request;
  request.python = prefix;
  const auto environment = find_environment(request);
  REQUIRE(environment.has_value());
  const auto verify = [&] {
    const CommandResult result =
        run_command({prefix + "/bin/python", AXLE_VERIFY_ENVIRONMENT, folder / "baseline"});
    CAPTURE(result.err);
    CHECK(result.status == 0);
    return result.out;
  };
  CHECK(verify() == "\n");
  MemoryTransport transport;
  axle::CollectedReport report;
  const InstallOptions options{.store_folder = folder / "store"};
  for (const char* version : {"1.0", "2.0", "1.0"}) {
    const std::string stem = std::string("alpha-") + version;
    const std::string wheel = make_wheel(
        folder / "dist", "alpha", version,
        {{"alpha/__init__.py", std::string("__version__ = '") + version +
                                   "'\nclass App:\n    @staticmethod\n    def run():\n"
                                   "        print(__version__)\n"},
         {stem + ".data/data/share/doc/alpha/" + version, "doc"},
         {stem + ".data/headers/alpha.h", "int a;"},
         {stem + ".dist-info/entry_points.txt", "[console_scripts]\nalpha-run = alpha:App.run\n"}});
    REQUIRE(install(resolution_of({wheel}), *environment, transport, options, report).has_value());
    CHECK(verify() == std::string("alpha==") + version + "\n");
  }
  REQUIRE(uninstall({"alpha"}, *environment, options, report).has_value());
  CHECK(verify() == "\n");
  CHECK(report.remarks.empty());
}
