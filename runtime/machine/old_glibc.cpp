#include "runtime/machine/old_glibc.h"

#ifdef AXLE_OLD_GLIBC

extern "C" {

/// glibc 2.32's word for the C++ library that there is one thread only, which spares it atomic
/// operations. Ours is found first, and says that there may be several: the truth, on every glibc.
[[gnu::visibility("hidden")]] extern char __libc_single_threaded;
char __libc_single_threaded = 0;
}

#endif
