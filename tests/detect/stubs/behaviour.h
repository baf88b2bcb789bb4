// What a stand-in does where a driver may fail: AXLE_STUB is ok, none, error:<code>, hang, crash,
// exit. Stand-ins also talk to stdout and stderr, as vendors' libraries do.
#pragma once
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* stub_mode(void) {
  const char* mode = getenv("AXLE_STUB");
  return mode == NULL ? "ok" : mode;
}

static int stub_initialise(void) {
  const char* mode = stub_mode();
  puts("a driver library talks to stdout");
  fputs("a driver library talks to stderr\n", stderr);
  fflush(stdout);
  if (strcmp(mode, "hang") == 0) {
    for (;;) pause();
  }
  if (strcmp(mode, "crash") == 0) raise(SIGSEGV);
  if (strcmp(mode, "exit") == 0) exit(0);
  if (strncmp(mode, "error:", 6) == 0) return (int)strtol(mode + 6, NULL, 0);
  return 0;
}

static int stub_devices(void) { return strcmp(stub_mode(), "none") == 0 ? 0 : 1; }
