#pragma once
// Where libraries come from that wheels need and do not contain: a machine's driver, or the
// distributions on the index that bring them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wheel/requirement.h"

namespace axle::doctor {

/// A library of the GPU driver, or its loader: a wheel cannot bring it, and the machine may lack
/// it.
[[nodiscard]] bool is_driver_library(std::string_view name);

/// "libpython3.11.so.1.0": manylinux excludes it, since many interpreters have none.
[[nodiscard]] bool is_python_library(std::string_view name);

/// One of the requirements, or something that it is known to require, brings the library.
[[nodiscard]] bool is_declared(std::string_view library,
                               const std::vector<wheel::Requirement>& requirements);

/// "nvidia-cublas-cu12" for libcublas.so.12: what to require; empty if unknown.
[[nodiscard]] std::string owner_of(std::string_view library);

/// The CUDA major of a library that a CUDA toolkit of that major has: 12 of libcublas.so.12, also
/// of libcusolver.so.11; 0: it is none, or of several.
[[nodiscard]] unsigned cuda_major_of(std::string_view library);
/// The same of ROCm: 6 of libamdhip64.so.6.
[[nodiscard]] unsigned rocm_major_of(std::string_view library);

/// "CUDA", "ROCm": what images have twice.
[[nodiscard]] std::span<const std::string_view> toolkits();
/// The one of them that has the library; empty: none.
[[nodiscard]] std::string_view toolkit_of(std::string_view library);

}  // namespace axle::doctor
