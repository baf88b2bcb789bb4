/* The drivers' own time: opens the libraries that detection opens and initialises them, nothing else. */
#include <dlfcn.h>

static int initialise_cuda(void) {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  int (*const start)(unsigned) = library ? (int (*)(unsigned))dlsym(library, "cuInit") : 0;
  return start ? start(0) : 1;
}

static int initialise_nvml(void) {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  int (*const start)(void) = library ? (int (*)(void))dlsym(library, "nvmlInit_v2") : 0;
  return start ? start() : 1;
}

int main(void) { return initialise_nvml() + initialise_cuda(); }
