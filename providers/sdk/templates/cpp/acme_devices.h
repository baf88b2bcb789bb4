#pragma once
// Which of our devices this machine has. Knows nothing of Axle, so that it can be tested with a
// folder that a test made.

#include <string>
#include <vector>

namespace acme_provider {

/// Every device that this provider knows, most preferred first.
const std::vector<std::string>& known_devices();

/// The known ones among the entries of a class folder of sysfs, in the order of known_devices(). A
/// folder that is not there or cannot be read has none.
std::vector<std::string> find_devices(const std::string& class_folder);

}  // namespace acme_provider
