#pragma once
// Takes out of a recording what names the machine or its people: serials, UUIDs, MAC addresses,
// host and user names, home folders, folder listings that nobody asked about. Detection reads the
// result as it read the original.

#include <string>
#include <vector>

#include "detect/record/recording.h"

namespace axle::detect {

/// Names that are taken out wherever they stand as whole words; those of less than three letters,
/// and words of systems and drivers ("nvidia", "debian"), are not looked for.
struct Identity {
  std::string host_name;  ///< without the domain, which goes with it
  std::vector<std::string> user_names;
  std::string home;  ///< the user's home folder, where it is none of /home
};

/// UUIDs of GPUs become GPU-0, GPU-1, … in the order in which the drivers named them, also in the
/// masks that name them.
[[nodiscard]] Recording scrub(const Recording& raw, const Identity& identity);

}  // namespace axle::detect
