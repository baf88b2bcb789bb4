#pragma once
// The store: every wheel once, unpacked and verified, by its own sha256.
//
//   <store>/wheels/<sha256>/manifest, <store>/wheels/<sha256>/tree/…
//   <store>/work-…/   a download or an unpacking in progress; locked, so that those of dead
//   processes are
//                     distinguished and removed
//
// An entry appears by one rename. It is not written to disk by force: whoever uses it compares each
// file's size and time with the manifest, and an entry that a power failure or an editor damaged is
// made again.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/store/manifest.h"
#include "plan/resolution.h"
#include "wheel/wheel_file.h"

namespace axle::installer {

/// The files of a wheel: unpacked in the store, or only listed.
struct WheelContents {
  Manifest manifest;
  std::string tree;    ///< folder of the unpacked files; empty: `archive` has them
  std::string sha256;  ///< of the wheel, hex; of a listed one as the index gives it
  std::shared_ptr<const wheel::WheelFile> archive = nullptr;

  /// Refuses more than `limit` bytes. Errors: as of the archive; io, not_found.
  [[nodiscard]] Result<std::string> read(const std::string& path, std::uint64_t limit) const;
  /// The same of a script; nullopt, and no more than its beginning is read, for one of an archive
  /// whose first line does not ask for the environment's Python.
  [[nodiscard]] Result<std::optional<std::string>> read_script(const std::string& path,
                                                               std::uint64_t limit) const;
};

/// How an entry is compared with its manifest before it is taken.
enum class EntryCheck : std::uint8_t {
  size_and_time,
  content,  ///< by hash too: for who replaces what may be a damaged twin of the entry's files
};

/// Says no to a wheel before anything of it is written. `metadata`: the text of its METADATA.
using WheelCheck = std::function<Result<void>(const Manifest& manifest, std::string_view metadata)>;

/// The wheel of `package`, taken from the store or downloaded (or read, when the URL is a file's)
/// and unpacked into it. Errors: mismatch (hash, size, RECORD, name, variant), malformed (archive),
/// io, not_found, and what `check` says.
[[nodiscard]] Result<WheelContents> acquire_wheel(const std::string& store,
                                                  const plan::ResolvedPackage& package,
                                                  index::Transport& transport,
                                                  const WheelCheck& check, EntryCheck entry_check,
                                                  Report& report);

/// The same without writing or downloading anything whole: from the store, unless that is empty,
/// else the archive's directory and small files by ranges. Errors: unsupported (a server without
/// ranges), and those of the archive.
[[nodiscard]] Result<WheelContents> list_wheel(const std::string& store,
                                               const plan::ResolvedPackage& package,
                                               index::Transport& transport, const WheelCheck& check,
                                               Report& report);

}  // namespace axle::installer
