#pragma once
// The wheel's own METADATA against what the resolver chose it by: a metadata file beside the wheel,
// or what a server answered for a part of it.

#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "plan/resolution.h"

namespace axle::installer {

/// `text`: the METADATA inside of the wheel of `package`. Error: mismatch, with every field that
/// differs of those that an installation goes by: name, version, requires-python, requires-dist,
/// provides-extra.
[[nodiscard]] Result<void> check_metadata(const plan::ResolvedPackage& package,
                                          std::string_view text);

}  // namespace axle::installer
