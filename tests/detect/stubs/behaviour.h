// What a stand-in does where a driver may fail: AXLE_STUB is ok, none, mixed (several unlike
// devices), error:<code>, hang, crash, abort, exit, flood, daemon (leaves a process behind).
// Stand-ins also talk to stdout, stderr and the terminal, as vendors' libraries do.
// AXLE_STUB_DELAY: initialising takes that many milliseconds. AXLE_STUB_LOG: a file that gets one
// line for every initialisation.
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char* stub_mode(void) {
  const char* mode = getenv("AXLE_STUB");
  return mode == NULL ? "ok" : mode;
}

static void stub_talk(void) {
  puts("a driver library talks to stdout");
  fputs("a driver library talks to stderr\n", stderr);
  fflush(stdout);
  const int terminal = open("/dev/tty", O_WRONLY);
  if (terminal >= 0) dprintf(terminal, "a driver library talks to the terminal\n");
}

static void stub_note_start(void) {
  const char* log = getenv("AXLE_STUB_LOG");
  const int file = log == NULL ? -1 : open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file >= 0) dprintf(file, "%d\n", (int)getpid());
}

static void stub_take_time(void) {
  const char* delay = getenv("AXLE_STUB_DELAY");
  const long milliseconds = delay == NULL ? 0 : strtol(delay, NULL, 10);
  if (milliseconds <= 0) return;
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static int stub_initialise(void) {
  const char* mode = stub_mode();
  stub_note_start();
  stub_talk();
  stub_take_time();
  if (strcmp(mode, "hang") == 0) {
    for (;;) pause();
  }
  if (strcmp(mode, "flood") == 0) {
    for (int i = 0; i < 100000; ++i) puts("a driver library talks to stdout, without end");
    fflush(stdout);
  }
  if (strcmp(mode, "daemon") == 0 && fork() == 0) {
    setsid();
    signal(SIGTERM, SIG_IGN);
    alarm(20);
    for (;;) pause();
  }
  if (strcmp(mode, "crash") == 0) raise(SIGSEGV);
  if (strcmp(mode, "abort") == 0) abort();
  if (strcmp(mode, "exit") == 0) exit(0);
  if (strncmp(mode, "error:", 6) == 0) return (int)strtol(mode + 6, NULL, 0);
  return 0;
}

static int stub_devices(void) {
  if (strcmp(stub_mode(), "none") == 0) return 0;
  return strcmp(stub_mode(), "mixed") == 0 ? 2 : 1;
}
