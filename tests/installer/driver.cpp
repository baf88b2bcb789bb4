// The installer's functions as a program, for tests that kill it or take its rights away:
//   installer_driver install PYTHON STORE WHEEL…
//   installer_driver uninstall PYTHON STORE NAME…
//   installer_driver list PYTHON STORE
// PYTHON is an environment's folder. STORE also keeps the interpreter's answer. Prints "name
// version" for what is installed; remarks and errors go to stderr. Exit status 0 or 1.

#include <cstdio>
#include <string>
#include <vector>

#include "installer/environment/installed.h"
#include "installer/transaction/changes.h"
#include "tests/installer/sandbox.h"

namespace axle::installer {
namespace {

int complain(const Error& error) {
  std::fprintf(stderr, "error: %s: %s (%s)\n", render_kind(error.kind), error.message.c_str(),
               error.hint.c_str());
  return 1;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3) {
    std::fputs("usage: installer_driver install|uninstall|list PYTHON STORE ...\n", stderr);
    return 2;
  }
  const std::vector<std::string> rest(arguments.begin() + 3, arguments.end());
  EnvironmentRequest request;
  request.python = arguments[1];
  request.cache_folder = arguments[2];
  auto environment = find_environment(request);
  if (!environment) return complain(environment.error());
  CollectedReport report;
  Error failure{ErrorKind::io, {}};
  bool failed = false;
  const auto note_failure = [&](const auto& result) {
    failed = !result.has_value();
    if (failed) failure = result.error();
  };
  MemoryTransport transport;
  InstallOptions options;
  options.store_folder = arguments[2];
  if (arguments[0] == "install") {
    note_failure(install(resolution_of(rest), *environment, transport, options, report));
  } else if (arguments[0] == "uninstall") {
    note_failure(uninstall(rest, *environment, options, report));
  } else {
    auto installed = list_installed(*environment, report);
    note_failure(installed);
    for (const auto& distribution : installed.value_or(std::vector<InstalledDistribution>())) {
      std::printf("%s %s\n", distribution.name.c_str(),
                  wheel::render_version(distribution.metadata.version).c_str());
    }
  }
  for (const Remark& remark : report.remarks) std::fprintf(stderr, "%s\n", remark.message.c_str());
  return failed ? complain(failure) : 0;
}

}  // namespace
}  // namespace axle::installer

int main(int argc, char** argv) {
  try {
    return axle::installer::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
