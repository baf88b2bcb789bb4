#pragma once
// The bytes of a wheel, with the hash and the size that the index gave for them.

#include <memory>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/first_download.h"
#include "index/http/transport.h"
#include "plan/resolution.h"
#include "wheel/zip/zip_reader.h"

namespace axle::installer {

/// Into the new file `path`. Errors: mismatch (hash, size), not_found, io.
[[nodiscard]] Result<index::DownloadMark> download_wheel(const plan::ResolvedPackage& package,
                                                         index::Transport& transport,
                                                         const std::string& path, Report& report);

/// A wheel on this machine: reads it through and returns its sha256. Errors: mismatch, io.
[[nodiscard]] Result<std::string> hash_wheel(const plan::ResolvedPackage& package,
                                             wheel::ByteSource& source, Report& report);

}  // namespace axle::installer
