// The baseline of architectures without a file of their own, tested on all.
#define kernel_set_portable portable_baseline
#include "runtime/kernels/portable.cpp"
