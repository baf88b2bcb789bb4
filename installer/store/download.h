#pragma once
// Downloads a wheel and checks it against the hash and the size from the index.

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

/// A wheel on this machine: reads all of it and returns its sha256. Errors: mismatch, io.
[[nodiscard]] Result<std::string> hash_wheel(const plan::ResolvedPackage& package,
                                             wheel::ByteSource& source, Report& report);

}  // namespace axle::installer
