#pragma once
// Brings a wheel onto this machine: into memory, into a file, or unpacked while it comes.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/first_download.h"
#include "index/http/transport.h"
#include "installer/store/store.h"
#include "installer/work_folder.h"
#include "plan/resolution.h"
#include "wheel/zip/zip_reader.h"

namespace axle::installer {

/// The bytes of a wheel on this machine, checked against the index's hash and size.
struct WheelBytes {
  std::unique_ptr<wheel::ByteSource> source;
  index::DownloadMark mark;
  std::optional<WorkFolder> work;    ///< with the downloaded file or the tree, if there is one
  std::optional<Manifest> unpacked;  ///< of the tree in `work`: there is no `source` then
};

/// The folder of a new entry in `work`, marked as not flushed, with its tree, which may be there.
[[nodiscard]] Result<std::string> make_entry(const std::string& work);

/// With `listed`, of which nothing is left then, a wheel is unpacked while it is downloaded; a
/// large one that does not come to its end is continued by the next call (partial_wheel.h). Errors:
/// as of acquire_wheel.
[[nodiscard]] Result<WheelBytes> obtain_wheel(const std::string& store,
                                              const plan::ResolvedPackage& package,
                                              index::Transport& transport, ListedWheel* listed,
                                              const WheelCheck& check, Report& report,
                                              const std::stop_token& stop);

}  // namespace axle::installer
