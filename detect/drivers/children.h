#pragma once
// Child processes with a time limit: foreign code runs there, and a crash only affects the child.

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "detect/drivers/line_sink.h"
#include "detect/host.h"

namespace axle::detect {

using AskVendor = void (*)(GpuVendor vendor, LineSink& sink);

/// Forks one child per vendor, all at once, runs `ask` in each, and collects their output. A child
/// is finished after its last line or its exit, even if another process still holds its pipe; a
/// child that exceeds `time_limit` is killed, and so are processes that a child leaves in its
/// process group. Every child is reaped (those that the kernel does not let die are given up after
/// half a second). The children's standard streams are discarded.
[[nodiscard]] std::vector<DriverAnswer> ask_in_children(std::span<const GpuVendor> vendors,
                                                        AskVendor ask,
                                                        std::chrono::milliseconds time_limit);

/// Runs `command`, a path and arguments, separated by single spaces.
[[nodiscard]] ProgramAnswer run_in_child(const std::string& command,
                                         std::chrono::milliseconds time_limit);

}  // namespace axle::detect
