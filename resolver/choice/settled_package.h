#pragma once
// A package of a finished search: what was chosen, and who wants what of it.

#include <map>
#include <string>
#include <vector>

#include "resolver/choice/package_choice.h"
#include "resolver/request/want.h"

namespace axle::resolver {

struct SettledPackage {
  PackageChoice choice;
  std::vector<Want> wants;          ///< the user's first, then in order of the search
  std::vector<std::string> extras;  ///< that somebody asks for
};
using SettledPackages = std::map<std::string, SettledPackage, std::less<>>;  ///< by name

}  // namespace axle::resolver
