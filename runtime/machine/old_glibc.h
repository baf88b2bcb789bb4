#pragma once
// glibc 2.34 moved its thread functions into libc.so.6 under a new symbol version. The old versions
// are still there; a wheel that asks for them also loads on systems before 2.34.
// AXLE_OLD_GLIBC is set in the wheel build only: sanitizers intercept the default version.

#ifdef AXLE_OLD_GLIBC
#if defined(__x86_64__)
asm(".symver pthread_create, pthread_create@GLIBC_2.2.5");
asm(".symver pthread_join, pthread_join@GLIBC_2.2.5");
#elif defined(__aarch64__)
asm(".symver pthread_create, pthread_create@GLIBC_2.17");
asm(".symver pthread_join, pthread_join@GLIBC_2.17");
#endif
#endif
