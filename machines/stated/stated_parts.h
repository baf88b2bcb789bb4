#pragma once
// The parts of `--for 'windows;x86_64:v3;nvidia:sm=120,driver=581.29'`.

#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::machines {

/// What a system is called comes first, so that other facts can be judged by it; the order is kept
/// otherwise. A ";" at the end counts for nothing.
[[nodiscard]] std::vector<std::string_view> parts_in_order(std::string_view text);

/// Error: not_found, where a fact that a machine has once is stated with two values: "macos:15" and
/// "macos:14"; and where a driver is stated in two parts: "nvidia:cuda=12.4" and
/// "nvidia:driver=570.26".
[[nodiscard]] Result<void> check_stated_once(const std::vector<std::string_view>& parts);

}  // namespace axle::machines
