#pragma once
// Accelerators that are no GPUs: Huawei Ascend, Google TPU, Intel NPU, Qualcomm Cloud AI.

#include <vector>

#include "detect/host.h"
#include "detect/pci_bus.h"
#include "detect/verdict.h"

namespace axle::detect {

/// Adds what there is to `machine`. `ask` allows to run `npu-smi`, which happens only where
/// Ascend's device nodes are.
void probe_npus(Host& host, const std::vector<AcceleratorDevice>& devices, bool ask,
                Machine& machine);

/// Ascend alone (detect/ascend.cpp).
void probe_ascend(Host& host, const std::vector<AcceleratorDevice>& devices, bool ask,
                  Machine& machine);

/// Where Huawei's driver installs its tool.
inline constexpr std::string_view npu_smi_files[] = {
    "/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi", "/usr/bin/npu-smi", "/usr/sbin/npu-smi"};

/// Blames the NPU and adds the problem "<kind>.<code>", once.
void blame(Machine& machine, Npu& npu, Presence usable, const Failure& failure);

}  // namespace axle::detect
