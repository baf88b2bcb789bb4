#pragma once
// Child processes with a time limit: foreign code runs there and takes nothing with it when it
// falls.

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "detect/drivers/line_sink.h"
#include "detect/host.h"

namespace axle::detect {

using AskVendor = void (*)(GpuVendor vendor, LineSink& sink);

/// Forks one child a vendor, all at once, runs `ask` in each, and gathers what they say. A child
/// ends with its last word or its death, whoever may still hold its pipe then; what outlives
/// `time_limit` is killed, and so is what a child leaves behind in its process group. Every child
/// is reaped (those that the kernel does not let die are given up after half a second). Nothing
/// that is written to the children's standard streams goes anywhere.
[[nodiscard]] std::vector<DriverAnswer> ask_in_children(std::span<const GpuVendor> vendors,
                                                        AskVendor ask,
                                                        std::chrono::milliseconds time_limit);

/// Runs `command`, a path and arguments, each after one space.
[[nodiscard]] ProgramAnswer run_in_child(const std::string& command,
                                         std::chrono::milliseconds time_limit);

}  // namespace axle::detect
