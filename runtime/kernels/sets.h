#pragma once
// The kernel sets of all files of this folder, by file. Which of them a build has is decided by
// CMake (AXLE_RUNTIME_KERNELS), which ones a machine can run by runtime/kernel_table.cpp.

#include "runtime/kernel.h"

namespace axle::runtime {

#define AXLE_KERNEL_SET(file, ...) extern const KernelSet kernel_set_##file;
#include "runtime/kernels/kernel_sets.inc"
#undef AXLE_KERNEL_SET

}  // namespace axle::runtime
