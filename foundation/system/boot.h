#pragma once
// Which run of the kernel this is: what was written in an earlier one may not have reached the
// disk.

#include <cstdint>
#include <string>

namespace axle::system {

/// 36 characters that differ for every start of the kernel (proc(5)); containers share those of
/// their machine. Empty where the system has none, or `file` does not have the form.
[[nodiscard]] std::string boot_id(const std::string& file = "/proc/sys/kernel/random/boot_id");

/// Whether `text` has the form of one: hexadecimal digits in lower case, and hyphens.
[[nodiscard]] bool is_boot_id(const std::string& text);

/// Since the start of the kernel, with the time that the machine slept; no clock that somebody
/// sets.
[[nodiscard]] std::int64_t seconds_since_boot();

}  // namespace axle::system
