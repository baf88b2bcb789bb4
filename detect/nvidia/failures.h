#pragma once
// What the codes of NVML and the CUDA driver API mean for the person before the machine.

#include <cstdint>

#include "detect/verdict.h"

namespace axle::detect {

/// `code` of nvmlInit and its like, not zero (NVML reference, nvmlReturn_t).
[[nodiscard]] Failure judge_nvml_code(std::int64_t code);

/// `code` of cuInit and its like, not zero (CUDA driver API reference, CUresult).
[[nodiscard]] Failure judge_cuda_code(std::int64_t code);

}  // namespace axle::detect
