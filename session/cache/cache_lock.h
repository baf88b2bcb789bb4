#pragma once
// Nobody removes what is in the cache while a command works with it. The lock is the kernel's, on
// the file `lock` in the cache folder, so none is left behind by a process that was killed.

#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "foundation/system/descriptor.h"

namespace axle::session {

/// For a command that reads and adds. Waits, with a word, while another one removes. Where the
/// cache or its file system cannot be locked there is no lock. `folder` empty: no cache.
[[nodiscard]] system::Descriptor share_cache(const std::string& folder, Report& report);

/// For a command that removes: waits, with a word, for all others. Error: io.
[[nodiscard]] Result<system::Descriptor> claim_cache(const std::string& folder, Report& report);

}  // namespace axle::session
