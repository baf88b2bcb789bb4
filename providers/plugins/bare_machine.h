#pragma once
// A machine without devices: a provider's behaviour there is part of its conformance.

namespace axle::plugins {

/// In the child, where only system calls are allowed and before privileges are dropped: covers /dev
/// and what the kernel reports about devices and drivers under /sys and /proc with empty folders;
/// the CPU remains. `rules` are the Landlock rules that will be enforced, or no descriptor. False
/// if the kernel rejects it (user namespaces may be disabled; errno has the reason).
[[nodiscard]] bool hide_hardware(int rules);

}  // namespace axle::plugins
