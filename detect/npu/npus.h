#pragma once
// Accelerators that are not GPUs: Huawei Ascend, Google TPU, Intel NPU, Qualcomm Cloud AI.

#include <chrono>
#include <optional>
#include <vector>

#include "detect/host.h"
#include "detect/pci_bus.h"
#include "detect/verdict.h"

namespace axle::detect {

/// The time limit of `npu-smi`; nullopt: it is not run.
using ToolLimit = std::optional<std::chrono::milliseconds>;

/// Adds the accelerators to `machine`. `npu-smi` is only run if Ascend's device nodes exist.
void probe_npus(Host& host, const std::vector<AcceleratorDevice>& devices, ToolLimit limit,
                Machine& machine);

/// Ascend only (detect/npu/ascend.cpp).
void probe_ascend(Host& host, const std::vector<AcceleratorDevice>& devices, ToolLimit limit,
                  Machine& machine);

/// Where Huawei's driver installs its tool.
inline constexpr std::string_view npu_smi_files[] = {
    "/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi", "/usr/bin/npu-smi", "/usr/sbin/npu-smi"};

/// Marks the NPU as unusable and adds the problem "<kind>.<code>", once.
void blame(Machine& machine, Npu& npu, Presence usable, const Failure& failure);

}  // namespace axle::detect
