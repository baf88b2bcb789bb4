// Preloaded into a program: every process that it starts leaves a line in AXLE_FORK_LOG. With
// AXLE_DEAF_CHILDREN nothing that it kills dies, as a process inside a broken driver does not.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static void note(const char* call) {
  const char* log = getenv("AXLE_FORK_LOG");
  const int file = log == NULL ? -1 : open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) return;
  dprintf(file, "%s\n", call);
  close(file);
}

pid_t fork(void) {
  note("fork");
  pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
  return real();
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const arguments[],
                char* const environment[]) {
  note("posix_spawn");
  __typeof__(&posix_spawn) real = (__typeof__(&posix_spawn))dlsym(RTLD_NEXT, "posix_spawn");
  return real(pid, path, actions, attributes, arguments, environment);
}

int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const arguments[],
                 char* const environment[]) {
  note("posix_spawnp");
  __typeof__(&posix_spawnp) real = (__typeof__(&posix_spawnp))dlsym(RTLD_NEXT, "posix_spawnp");
  return real(pid, file, actions, attributes, arguments, environment);
}

int kill(pid_t process, int number) {
  if (getenv("AXLE_DEAF_CHILDREN") != NULL) return 0;
  int (*real)(pid_t, int) = (int (*)(pid_t, int))dlsym(RTLD_NEXT, "kill");
  return real(process, number);
}
