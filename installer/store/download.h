#pragma once
// Downloads a wheel, or what one is built from, and checks it against the hash and the size from
// the index.

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/first_download.h"
#include "index/http/transport.h"
#include "plan/resolution.h"
#include "wheel/hash/sha256.h"
#include "wheel/zip/zip_reader.h"

namespace axle::installer {

/// A download of which the beginning may be here already, and which may be continued later.
struct DownloadPart {
  wheel::Sha256Midpoint from;  ///< of what is here
  std::uint64_t size;          ///< of the whole file
  /// Gets the state of the hash from time to time, before the bytes behind it come.
  std::function<void(const wheel::Sha256Midpoint&)> note_hash;
};

/// Whether a download can be continued: it is checked by nothing but its sha256.
[[nodiscard]] bool may_continue(const plan::ResolvedPackage& package);

/// Gives the bytes to `sink` as they come; they count only when this succeeds. With `part`, of
/// which `may_continue` is true, only those behind its beginning; then unsupported: the server does
/// not give them. Errors: mismatch (hash, size), not_found, io (also after a request to `stop`),
/// those of `sink`.
[[nodiscard]] Result<index::DownloadMark> download(const plan::ResolvedPackage& package,
                                                   index::Transport& transport,
                                                   const index::BodySink& sink, Report& report,
                                                   const std::stop_token& stop = {},
                                                   const DownloadPart* part = nullptr);

/// The same into the new file `path`.
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
