#pragma once
// Puts a bundle in its place, whole or not at all.

#include "foundation/report/error.h"
#include "session/downloads/brought_files.h"

namespace axle::session {

/// That nothing is at `path`, or a bundle. Errors: conflict.
[[nodiscard]] Result<void> check_replaceable(const std::string& path);

/// Makes the bundle of `place` out of its index, signed if it has a key, and replaces what is
/// there. Errors: those of check_replaceable, of signing and of index::BundleWriter; io.
[[nodiscard]] Result<void> pack_bundle(const SavePlace& place);

}  // namespace axle::session
