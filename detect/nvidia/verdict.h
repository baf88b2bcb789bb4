#pragma once
// NVIDIA: why the driver as a whole, or one GPU of it, cannot be used.

#include <chrono>
#include <optional>

#include "detect/nvidia/facts.h"
#include "detect/nvidia/gpus.h"

namespace axle::detect {

/// Everything that speaks against the driver as a whole; nullopt when nothing does. `answer` is
/// nullptr when the libraries were not asked; `said` is what its lines hold.
[[nodiscard]] std::optional<Failure> judge_nvidia_driver(const NvidiaSigns& signs,
                                                         const DriverAnswer* answer,
                                                         const NvidiaAnswer& said,
                                                         std::chrono::milliseconds time_limit);

/// A GPU on the bus that the driver does not list though it works.
[[nodiscard]] Failure judge_unlisted(const DisplayDevice& device, const NvidiaAnswer& said);

/// A GPU that is partitioned into no parts, so that programs see nothing of it; nullopt for others
/// and for one that CUDA lists all the same.
[[nodiscard]] std::optional<Failure> judge_mig(const NvidiaDevice& device,
                                               const NvidiaAnswer& said);

/// False for a left-over library on a machine without the hardware, which is nothing to complain
/// about.
[[nodiscard]] bool worth_telling(const NvidiaSigns& signs, const Failure& failure);

/// What is wrong with a driver that works all the same.
[[nodiscard]] std::vector<Failure> nvidia_remarks(const NvidiaSigns& signs,
                                                  const NvidiaAnswer& said);

}  // namespace axle::detect
