#pragma once
// The sha256 of wheels whose index gives none: a folder of files, a page of bare links.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "plan/resolution.h"

namespace axle::session {

/// A lock names every wheel by its sha256. Each file is read once, whatever has it.
class WheelHashes {
 public:
  /// Both must outlive it.
  WheelHashes(index::Transport& transport, Report& report)
      : transport_(transport), report_(report) {}

  /// Gives those that have none their sha256 and their size: local files are read, others are
  /// downloaded, with a note, and not kept. Errors: as of installer::download.
  [[nodiscard]] Result<void> complete(plan::Resolution& resolution);

 private:
  struct Content {
    std::string sha256;
    std::uint64_t size = 0;  ///< bytes
  };
  [[nodiscard]] Result<Content> read(const plan::ResolvedPackage& package);

  index::Transport& transport_;
  Report& report_;
  std::map<std::string, Content, std::less<>> known_;  ///< by URL
};

}  // namespace axle::session
