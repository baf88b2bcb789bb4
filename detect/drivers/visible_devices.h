#pragma once
// The masks with which users hide GPUs from programs. A mask is a user's setting, not a property of
// the driver.

#include <string>
#include <string_view>
#include <vector>

namespace axle::detect {

/// CUDA_VISIBLE_DEVICES and similar: for each device, in the vendor's numbering, whether a program
/// sees it. Numbers, or prefixes of `uuids`; the list ends at the first entry that matches no
/// device (CUDA C++ programming guide, "CUDA environment variables"). An entry that only the driver
/// can resolve ("MIG-…", or an id if some device's id is unknown, that is, empty) leaves every
/// device visible.
[[nodiscard]] std::vector<bool> visible_by_list(std::string_view mask,
                                                const std::vector<std::string>& uuids);

/// ZE_AFFINITY_MASK: numbers, each with an optional sub-device ("0,1.0"); empty hides nothing.
[[nodiscard]] std::vector<bool> visible_by_affinity(std::string_view mask, std::size_t devices);

}  // namespace axle::detect
