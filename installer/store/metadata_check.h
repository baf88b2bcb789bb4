#pragma once
// Compares the wheel's own METADATA with the metadata that the resolver used: a metadata file next
// to the wheel, or a server's answer for a part of it.

#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "plan/resolution.h"

namespace axle::installer {

/// `text`: the METADATA in the wheel of `package`. Error: mismatch, with every differing field of
/// those that an installation uses: name, version, requires-python, requires-dist, provides-extra.
[[nodiscard]] Result<void> check_metadata(const plan::ResolvedPackage& package,
                                          std::string_view text);

}  // namespace axle::installer
