#pragma once
// Child processes with a time limit: foreign code runs there and takes nothing with it when it
// falls.

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "detect/host.h"
#include "detect/line_sink.h"

namespace axle::detect {

using AskVendor = void (*)(GpuVendor vendor, LineSink& sink);

/// Forks one child a vendor, all at once, runs `ask` in each, and gathers what they say. A child
/// that outlives `time_limit` is killed; every child is reaped (one that the kernel does not let
/// die is given up after half a second). Standard streams of the children are /dev/null.
[[nodiscard]] std::vector<DriverAnswer> ask_in_children(std::span<const GpuVendor> vendors,
                                                        AskVendor ask,
                                                        std::chrono::milliseconds time_limit);

/// stdout and stderr of `command`, a path and arguments, each after one space; what came within the
/// limit.
[[nodiscard]] std::string run_program(const std::string& command,
                                      std::chrono::milliseconds time_limit);

}  // namespace axle::detect
