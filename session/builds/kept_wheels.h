#pragma once
// Wheels that were built, each in a folder of its own under the cache folder:
//
//   <cache>/builds/<hash of what it was built from, interpreter and tool>/<wheel>, …/sha256
//
// A folder appears with one rename, so it is always complete. One that was not used for 30 days is
// removed when another is created.

#include <optional>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "index/pages/page.h"
#include "wheel/tag.h"
#include "wheel/version.h"

namespace axle::session {

/// What the wheel must be.
struct AwaitedWheel {
  std::string name;                       ///< normalised; empty: of any package
  std::optional<wheel::Version> version;  ///< unset: any
  const wheel::TagTarget& target;         ///< of the interpreter
};

/// The wheel in the kept folder `place`, with its sha256; nullopt: it is not there.
[[nodiscard]] std::optional<index::PublishedFile> find_kept(const std::string& place);

/// The one wheel in `folder`, of which the record is written: it is what was awaited, and sound,
/// since it is unpacked, in `scratch`, like any other. Its sha256. Errors: malformed, mismatch (of
/// another package), io.
[[nodiscard]] Result<std::string> record_wheel(const AwaitedWheel& awaited,
                                               const std::string& folder,
                                               const std::string& scratch,
                                               index::Transport& transport, Report& report);

}  // namespace axle::session
