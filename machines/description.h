#pragma once
// A machine in one line.

#include <string>

#include "detect/machine.h"

namespace axle::machines {

/// "x86_64 v4, Intel(R) Xeon(R) Processor"; empty: nothing is stated of the CPU.
[[nodiscard]] std::string describe_cpu(const detect::Cpu& cpu);

/// GPUs and other accelerators, each kind once with its number, and why it cannot be used: "8 ×
/// NVIDIA H100 9.0, Pascal (GP104) (other-driver)". Empty: none.
[[nodiscard]] std::string describe_devices(const detect::Machine& machine);

}  // namespace axle::machines
