// index_server FOLDER: serves FOLDER on 127.0.0.1, prints the port on a line of its own, and ends
// with the process that started it.
#include <csignal>
#include <cstdio>
#include <exception>

#include <sys/prctl.h>
#include <unistd.h>

#include "tests/support/index_server.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: index_server FOLDER\n", stderr);
    return 2;
  }
  const pid_t owner = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != owner) return 1;
  try {
    const axle::test::IndexServer server(argv[1]);
    std::printf("%u\n", server.port());
    std::fflush(stdout);
    for (;;) ::pause();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "index_server: %s\n", error.what());
    return 1;
  }
}
