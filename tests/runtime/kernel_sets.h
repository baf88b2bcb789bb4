#pragma once
// All kernel sets that this machine can test: those that it runs, and the models of all.

#include <vector>

#include "runtime/kernel_table.h"

namespace axle::runtime {

extern const KernelSet model_pairs_16;
extern const KernelSet model_signs_16;
extern const KernelSet model_signs_32;
extern const KernelSet model_signs_64;
extern const KernelSet model_offset_32;
extern const KernelSet model_offset_64;
extern const KernelSet model_byte_pairs;
extern const KernelSet model_signed_dot;
extern const KernelSet model_matrix;
extern const KernelSet model_amx_int8;
extern const KernelSet portable_baseline;

/// Rows for Engine::use_only. A set of the table that this machine cannot run is left out, and
/// said. The models give the same on every machine: where time is short, as in an emulator, they
/// are left out (AXLE_TEST_WITHOUT_MODELS in the environment).
const std::vector<KernelRow>& kernel_sets_to_test();

}  // namespace axle::runtime
