#pragma once
// Functions that glibc has only since 2.25 to 2.32, for a program that is linked with an older one.
// A kernel that does not have a call answers ENOSYS, as it does through a newer glibc.

#include <cstddef>

#include <features.h>
#include <sys/types.h>

#if !__GLIBC_PREREQ(2, 25)
extern "C" ssize_t getrandom(void* bytes, std::size_t size, unsigned flags) noexcept;
#else
#include <sys/random.h>
#endif

#if !__GLIBC_PREREQ(2, 27)
#include <linux/memfd.h>
extern "C" int memfd_create(const char* name, unsigned flags) noexcept;
extern "C" ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at,
                                   std::size_t size, unsigned flags);
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#if !__GLIBC_PREREQ(2, 28)
#include <linux/fs.h>
extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) noexcept;
#else
#include <cstdio>
#endif

#if !__GLIBC_PREREQ(2, 32)
extern "C" const char* sigabbrev_np(int signal) noexcept;
#else
#include <cstring>
#endif
