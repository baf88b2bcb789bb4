#pragma once
// Detects which of our devices this machine has. Independent of Axle, so that it can be tested with
// a folder made by a test.

#include <string>
#include <vector>

namespace acme_provider {

/// Every device that this provider knows, most preferred first.
const std::vector<std::string>& known_devices();

/// The known devices among the entries of a sysfs class folder, in the order of known_devices(). A
/// folder that is missing or cannot be read has none.
std::vector<std::string> find_devices(const std::string& class_folder);

}  // namespace acme_provider
