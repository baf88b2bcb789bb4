#include "runtime/devices/shared_library.h"

#include <cstdio>

#include <dlfcn.h>

// As in machine/old_glibc.h: before glibc 2.34 these are in libdl.so.2, under an older version. A
// process without it (Python has it) has no devices, hence weak.
#ifdef AXLE_OLD_GLIBC
#if defined(__x86_64__)
asm(".symver dlopen, dlopen@GLIBC_2.2.5");
asm(".symver dlsym, dlsym@GLIBC_2.2.5");
asm(".symver dlerror, dlerror@GLIBC_2.2.5");
asm(".symver dlclose, dlclose@GLIBC_2.2.5");
#elif defined(__aarch64__)
asm(".symver dlopen, dlopen@GLIBC_2.17");
asm(".symver dlsym, dlsym@GLIBC_2.17");
asm(".symver dlerror, dlerror@GLIBC_2.17");
asm(".symver dlclose, dlclose@GLIBC_2.17");
#endif
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror
#pragma weak dlclose
#endif

namespace axle::runtime {
namespace {

bool can_load() {
#ifdef AXLE_OLD_GLIBC
  return dlopen != nullptr && dlsym != nullptr && dlerror != nullptr && dlclose != nullptr;
#else
  return true;
#endif
}

}  // namespace

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

bool SharedLibrary::open(const char* name, char* problem, std::size_t size) {
  problem[0] = '\0';
  if (!can_load()) {
    std::snprintf(problem, size, "this program does not load libraries (libdl.so.2)");
    return false;
  }
  // Never unloaded: drivers have threads of their own.
  handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle_ != nullptr) return true;
  const char* const reason = dlerror();
  std::snprintf(problem, size, "%s", reason != nullptr ? reason : name);
  return false;
}

void* SharedLibrary::find_address(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace axle::runtime
