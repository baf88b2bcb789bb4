#pragma once
// Removes everything from a recording that identifies the machine or its people: serials, UUIDs,
// MAC addresses, host and user names, home folders, folder listings that were not queried.
// Detection reads the result like the original.

#include <string>
#include <vector>

#include "detect/record/recording.h"

namespace axle::detect {

/// Names that are removed wherever they occur as whole words; names of fewer than three letters,
/// and words of systems and drivers ("nvidia", "debian"), are not searched.
struct Identity {
  std::string host_name;  ///< without the domain, which is removed with it
  std::vector<std::string> user_names;
  std::string home;  ///< the user's home folder, if it is not below /home
};

/// UUIDs of GPUs become GPU-0, GPU-1, … in the order in which the drivers listed them, also in
/// masks that contain them.
[[nodiscard]] Recording scrub(const Recording& raw, const Identity& identity);

}  // namespace axle::detect
