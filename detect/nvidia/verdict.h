#pragma once
// NVIDIA: why the whole driver, or one GPU of it, cannot be used.

#include <chrono>
#include <optional>

#include "detect/nvidia/facts.h"
#include "detect/nvidia/gpus.h"

namespace axle::detect {

/// Why the whole driver cannot be used; nullopt if it can. `answer` is nullptr if the libraries
/// were not queried; `said` is the content of its lines.
[[nodiscard]] std::optional<Failure> judge_nvidia_driver(const NvidiaSigns& signs,
                                                         const DriverAnswer* answer,
                                                         const NvidiaAnswer& said,
                                                         std::chrono::milliseconds time_limit);

/// A GPU on the bus that the driver does not list although it works.
[[nodiscard]] Failure judge_unlisted(const DisplayDevice& device, const NvidiaAnswer& said);

/// A GPU in MIG mode without instances, so that programs cannot use it; nullopt for others and for
/// one that CUDA lists anyway.
[[nodiscard]] std::optional<Failure> judge_mig(const NvidiaDevice& device,
                                               const NvidiaAnswer& said);

/// False for a leftover library on a machine without the hardware, which is not a problem.
[[nodiscard]] bool worth_telling(const NvidiaSigns& signs, const Failure& failure);

/// Problems of a driver that works nevertheless.
[[nodiscard]] std::vector<Failure> nvidia_remarks(const NvidiaSigns& signs,
                                                  const NvidiaAnswer& said);

}  // namespace axle::detect
