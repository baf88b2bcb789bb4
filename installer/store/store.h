#pragma once
// The store: every wheel once, unpacked and verified, by its own sha256.
//
//   <store>/wheels/<sha256>/manifest, <store>/wheels/<sha256>/tree/…
//   <store>/wheels/<sha256>/unflushed   not known to be on the disk (entry_mark.h)
//   <store>/wheels/<sha256>/spare/…     links that an environment returned (spare_tree.h)
//   <store>/work-…/   a download or an unpacking in progress; locked, so that those of dead
//   processes are
//                     distinguished and removed
//   <store>/partial-<sha256>/   a large wheel that is being received, or was not to its end
//                     (partial_wheel.h)
//
// An entry appears with one rename. It is not flushed to disk: users of it compare each file's size
// and time with the manifest, and its content too if the machine was started since it was made. An
// entry that was damaged by a power failure or an editor is created again.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/store/entry.h"
#include "installer/store/manifest.h"
#include "installer/store/seen_parts.h"
#include "plan/resolution.h"
#include "wheel/wheel_file.h"

namespace axle::installer {

/// The files of a wheel: unpacked in the store, or only listed.
struct WheelContents {
  Manifest manifest;
  std::string tree;    ///< folder of the unpacked files; empty: they are in `archive`
  std::string sha256;  ///< of the wheel, hex; for a listed one as the index gives it
  std::shared_ptr<const wheel::WheelFile> archive = nullptr;
  std::shared_ptr<const SeenParts> seen = nullptr;  ///< all that was read of `archive`

  /// Rejects more than `limit` bytes. Errors: as of the archive; io, not_found.
  [[nodiscard]] Result<std::string> read(const std::string& path, std::uint64_t limit) const;
  /// The same for a script; nullopt, reading only its beginning, for a script in an archive whose
  /// first line does not use the environment's Python.
  [[nodiscard]] Result<std::optional<std::string>> read_script(const std::string& path,
                                                               std::uint64_t limit) const;
};

/// What list_wheel found, and said while it did.
struct ListedWheel {
  WheelContents contents;
  std::vector<Remark> remarks;
};

/// Can reject a wheel before anything of it is written. `metadata`: the text of its METADATA.
using WheelCheck = std::function<Result<void>(const Manifest& manifest, std::string_view metadata)>;

/// Whether an entry with the hash that the index gives exists: without it, the wheel is downloaded
/// or read.
[[nodiscard]] bool may_be_stored(const std::string& store, const plan::ResolvedPackage& package);

/// The wheel of `package` if the store has it; nothing is written there. Errors: mismatch, io, and
/// those of `check`.
[[nodiscard]] Result<std::optional<WheelContents>> find_stored(
    const std::string& store, const plan::ResolvedPackage& package, index::Transport& transport,
    const WheelCheck& check, EntryCheck entry_check, Report& report);

/// The wheel of `package`, from the store or downloaded (or read, for a file URL) and unpacked into
/// it. With `listed`, of which nothing is left then, a wheel is unpacked while it is downloaded.
/// Errors: mismatch (hash, size, RECORD, name, variant), malformed (archive), io, not_found, and
/// those of `check`. A request to `stop` ends a download or an unpacking with io.
[[nodiscard]] Result<WheelContents> acquire_wheel(const std::string& store,
                                                  const plan::ResolvedPackage& package,
                                                  index::Transport& transport,
                                                  const WheelCheck& check, EntryCheck entry_check,
                                                  Report& report, const std::stop_token& stop = {},
                                                  ListedWheel* listed = nullptr);

/// The same without writing or downloading complete files: from the store, unless that is empty,
/// otherwise the archive's directory and small files by ranges. Errors: unsupported (a server
/// without ranges), and those of the archive.
[[nodiscard]] Result<WheelContents> list_wheel(const std::string& store,
                                               const plan::ResolvedPackage& package,
                                               index::Transport& transport, const WheelCheck& check,
                                               Report& report);

}  // namespace axle::installer
