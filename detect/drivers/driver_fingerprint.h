#pragma once
// What a driver's answer depends on, as far as files show it: while this text is unchanged, so is
// the answer.

#include <span>
#include <string>
#include <string_view>

#include "detect/host.h"

namespace axle::detect {

/// One line per fact: boot, container, kernel modules, library files, devices with their nodes and
/// whether this user may open them, and the environment that drivers read. `program` is the version
/// of this program, whose queries may change with it. Starts no process.
[[nodiscard]] std::string fingerprint_drivers(Host& host, std::span<const GpuVendor> vendors,
                                              std::string_view program);

/// Whether the kernel distinguishes one boot from another. If not, nothing may be cached.
[[nodiscard]] bool tells_boots(Host& host);

/// The same for Huawei's `npu-smi`, started as `command`.
[[nodiscard]] std::string fingerprint_tool(Host& host, const std::string& command,
                                           std::string_view program);

/// 64-bit FNV-1a as sixteen hexadecimal digits: names files and shortens long values. Not a
/// protection against attacks.
[[nodiscard]] std::string short_hash(std::string_view text);

}  // namespace axle::detect
