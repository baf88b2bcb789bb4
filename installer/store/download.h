#pragma once
// Downloads a wheel, or what one is built from, and checks it against the hash and the size from
// the index.

#include <memory>
#include <stop_token>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/first_download.h"
#include "index/http/transport.h"
#include "plan/resolution.h"
#include "wheel/zip/zip_reader.h"

namespace axle::installer {

/// Into the new file `path`. Errors: mismatch (hash, size), not_found, io (also after a request to
/// `stop`).
[[nodiscard]] Result<index::DownloadMark> download_file(const plan::ResolvedPackage& package,
                                                        index::Transport& transport,
                                                        const std::string& path, Report& report,
                                                        const std::stop_token& stop = {});

/// The index gives no hash that can be checked, and the file was downloaded before.
[[nodiscard]] bool is_first_download(const plan::ResolvedPackage& package);

/// If the index gives no hash, later downloads are compared with the first one, of which `mark`
/// is kept. A file that the user requested by URL may change at any time. Errors: mismatch (this
/// is not the first one).
[[nodiscard]] Result<void> remember_download(const plan::ResolvedPackage& package,
                                             const index::DownloadMark& mark,
                                             index::Transport& transport, Report& report);

/// A wheel on this machine: reads all of it and returns its sha256. Errors: mismatch, io.
[[nodiscard]] Result<std::string> hash_wheel(const plan::ResolvedPackage& package,
                                             wheel::ByteSource& source, Report& report);

}  // namespace axle::installer
