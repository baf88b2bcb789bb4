#pragma once
// A machine where nothing is: how a provider behaves there is part of its conformance.

namespace axle::plugins {

/// In the child, where only system calls are allowed and before privileges are dropped: empty
/// folders of its own cover /dev and what the kernel says of devices and drivers under /sys and
/// /proc; the CPU stays. `rules` are Landlock's that will come into force, or no descriptor. False
/// where the kernel refuses (user namespaces may be switched off; errno says how).
[[nodiscard]] bool hide_hardware(int rules);

}  // namespace axle::plugins
