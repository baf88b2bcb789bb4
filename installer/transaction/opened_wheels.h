#pragma once
// The wheels of a plan, opened before the environment is: what they contain and where it goes.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/environment/roots.h"
#include "installer/store/store.h"
#include "installer/transaction/changes.h"
#include "installer/transaction/layout.h"
#include "plan/resolution.h"

namespace axle::installer {

/// A wheel to be installed, and where its files go.
struct OpenedWheel {
  const plan::ResolvedPackage* package;
  WheelContents wheel;
  Layout layout;
  std::optional<StoreEntry> byte_code = {};  ///< compiled modules, if they are wanted
  std::vector<Remark> remarks = {};          ///< of listing it
};

/// Wheels that were listed, by URL: they are unpacked while they are downloaded.
using ListedWheels = std::map<std::string, ListedWheel, std::less<>>;

/// How much of the wheels is there afterwards.
enum class WheelAccess : std::uint8_t {
  complete,      ///< all of them are in the store
  listed,        ///< nothing is downloaded completely or written
  large_listed,  ///< large ones that would be downloaded are listed, the others are complete
};

/// Whether a wheel would be downloaded that is so large that its files are listed first.
[[nodiscard]] bool has_large_download(const plan::Resolution& resolution,
                                      const InstallOptions& options);

/// All checks that only depend on the wheels. A wheel whose files cannot be listed without a
/// download is not an error, it is put into `unlisted`; one that is found not to be what it was
/// chosen as is. `transport` may be null if there is nothing to install. `listed`, of an earlier
/// call, is used up.
[[nodiscard]] Result<std::vector<OpenedWheel>> open_wheels(
    const plan::Resolution& resolution, const Roots& roots, const InstallOptions& options,
    WheelAccess access, index::Transport* transport, ListedWheels& listed,
    std::vector<UnlistedWheel>& unlisted, Report& report);

}  // namespace axle::installer
