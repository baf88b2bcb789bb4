#pragma once
// Builds that are not taken, though they fit: another one is to serve several machines, or is
// smaller.

#include <map>
#include <set>
#include <string>

namespace axle::resolver {

/// By what goes by one label, the labels: the name of a family, else the normalised name of a
/// package. The plain wheel of a package has the empty one.
using WithheldBuilds = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

}  // namespace axle::resolver
