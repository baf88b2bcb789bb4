#pragma once
// The store: every wheel once, unpacked and verified, by its own sha256.
//
//   <store>/wheels/<sha256>/manifest, <store>/wheels/<sha256>/tree/…
//   <store>/work-…/   a download or an unpacking in progress; locked, so that those of dead
//   processes are
//                     told apart and removed
//
// An entry appears by one rename. It is not written to disk by force: whoever uses it compares each
// file's size and time with the manifest, and an entry that a power failure or an editor damaged is
// made anew.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/store/manifest.h"
#include "plan/resolution.h"

namespace axle::installer {

struct StoredWheel {
  Manifest manifest;
  std::string tree;    ///< folder of the unpacked files
  std::string sha256;  ///< of the wheel, hex
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
[[nodiscard]] Result<StoredWheel> acquire_wheel(const std::string& store,
                                                const plan::ResolvedPackage& package,
                                                index::Transport& transport,
                                                const WheelCheck& check, EntryCheck entry_check,
                                                Report& report);

}  // namespace axle::installer
