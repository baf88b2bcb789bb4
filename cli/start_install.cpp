// `variant-install` of the wheel, where no file can be a link: starts the program beside it under
// its own name, by which that knows what is asked.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <unistd.h>

int main(int, char** argv) {
  constexpr const char* name = "variant";
  char path[4096 + 16];
  const ssize_t length = ::readlink("/proc/self/exe", path, 4096);
  char* const slash =
      length > 0 ? static_cast<char*>(::memrchr(path, '/', static_cast<std::size_t>(length)))
                 : nullptr;
  if (slash == nullptr) {
    std::fputs("error: /proc/self/exe cannot be read; is /proc mounted?\n", stderr);
    return 1;
  }
  std::strcpy(slash + 1, name);
  char called[] = "variant-install";
  argv[0] = called;
  ::execv(path, argv);
  std::fprintf(stderr, "error: %s cannot be started: %s; reinstall variant-install\n", path,
               std::strerror(errno));
  return 1;
}
