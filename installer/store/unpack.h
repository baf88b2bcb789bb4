#pragma once
// From a validated archive to files.

#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/store/manifest.h"
#include "wheel/wheel_file.h"

namespace axle::installer {

/// What unpacking `wheel` will give, from its directory and its checked RECORD; nothing is written.
/// Errors: malformed, mismatch.
[[nodiscard]] Result<Manifest> plan_unpacking(const wheel::WheelFile& wheel, std::string file_name);

/// Writes every file of `manifest` below `folder`, which exists and is empty; sizes, CRCs and
/// RECORD hashes are checked on the way. Fills in `StoredFile::modified`. Errors: mismatch,
/// malformed, io.
[[nodiscard]] Result<void> unpack_wheel(const wheel::WheelFile& wheel, const std::string& folder,
                                        Manifest& manifest, Report& report);

}  // namespace axle::installer
