#pragma once
// Unpacks a validated archive.

#include <stop_token>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/store/manifest.h"
#include "wheel/wheel_file.h"

namespace axle::installer {

/// The result of unpacking `wheel`, according to its directory and its checked RECORD; nothing is
/// written. Errors: malformed, mismatch.
[[nodiscard]] Result<Manifest> plan_unpacking(const wheel::WheelFile& wheel, std::string file_name);

/// Writes every file of `manifest` below `folder`, which exists and is empty; checks sizes, CRCs
/// and RECORD hashes; several threads unpack a large wheel. Fills in `StoredFile::modified`.
/// Errors: mismatch, malformed, io (also after a request to `stop`).
[[nodiscard]] Result<void> unpack_wheel(const wheel::WheelFile& wheel, const std::string& folder,
                                        Manifest& manifest, Report& report,
                                        const std::stop_token& stop = {});

}  // namespace axle::installer
