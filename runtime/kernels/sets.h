#pragma once
// The kernel sets of all files of this folder; which of them a build has is decided by CMake
// (AXLE_RUNTIME_KERNELS), which ones a machine can run by runtime/kernel_table.cpp.

#include "runtime/kernel.h"

namespace axle::runtime {

extern const KernelSet kernel_set_amx_int8;
extern const KernelSet kernel_set_avx512_vnni;
extern const KernelSet kernel_set_avx_vnni;
extern const KernelSet kernel_set_avx512;
extern const KernelSet kernel_set_avx2;
extern const KernelSet kernel_set_baseline;

}  // namespace axle::runtime
