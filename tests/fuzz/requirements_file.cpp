// A requirements file: whatever it says is read or refused with its line.
#include "cli/requirements_file.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A nested "-r 0" would wait for the terminal.
  static const bool no_input = std::freopen("/dev/null", "r", stdin) != nullptr;
  if (!no_input) std::abort();
  const int file = memfd_create("requirements", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  axle::cli::RequirementsFile into;
  const auto read = axle::cli::read_requirements_file(path, false, into);
  close(file);
  if (!read && !read.error().message.starts_with(path)) std::abort();
  return 0;
}
