#pragma once
// How a file that `site` runs at each start of Python is kept from it.

#include <set>
#include <string>

#include "doctor/finding.h"

namespace axle::doctor {

/// Those lines of a .pth file become comments; any other file, or one without known lines, is put
/// aside. What a package installed goes with the package, unless another one requires it. `starts`:
/// the interpreter does, so that packages can be removed with it.
[[nodiscard]] Hint out_of_the_start(const std::string& python, const std::string& file,
                                    const std::set<unsigned>& lines, bool starts);

}  // namespace axle::doctor
