#pragma once
// Uploads wheels to an index that takes them.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "index/publish/wheel_scan.h"

namespace axle::index {

struct UploadTarget {
  std::string url;  ///< http or https, without a login
  std::string user;
  std::string password;
  bool skip_existing = false;
};

struct UploadedFile {
  std::string project;
  std::string filename;
  bool existed = false;  ///< it was skipped
};

/// One after the other. `transport`: without logins. Errors: io, with what the index says and the
/// files that are there already; conflict, if it has a file of that name and `skip_existing` is not
/// set.
[[nodiscard]] Result<std::vector<UploadedFile>> upload_wheels(
    const std::vector<ScannedWheel>& wheels, const UploadTarget& target, Transport& transport,
    Report& report);

}  // namespace axle::index
