// A library that does not even load: its constructor never returns.
#include <unistd.h>

__attribute__((constructor)) static void hang(void) {
  for (;;) pause();
}
