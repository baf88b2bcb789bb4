// Preloaded into a program: it can load no libraries, as one that is linked statically with musl
// cannot.
#include <stddef.h>

void* dlopen(const char* file, int flags) {
  (void)file;
  (void)flags;
  return NULL;
}
