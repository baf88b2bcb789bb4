#include "installer/path_states.h"

#include <algorithm>
#include <chrono>

#include <sys/stat.h>

#include "installer/file_access.h"
#include "installer/sealed_fields.h"

namespace axle::installer {

bool PathStates::add(const std::string& path, bool state_counts) {
  const auto status = look_at(path, Links::followed);
  if (!status) return false;
  if (!*status || path == "/dev/null") {
    append_field(text, "-");
    return true;
  }
  const struct stat& now = **status;
  if (!S_ISREG(now.st_mode) && !S_ISDIR(now.st_mode)) return false;
  const std::int64_t modified = nanoseconds_of(now.st_mtim);
  append_number(text, now.st_dev);
  append_number(text, now.st_ino);
  append_number(text, now.st_size);
  append_number(text, modified);
  latest = std::max(latest, modified);
  if (state_counts || S_ISDIR(now.st_mode) || now.st_nlink == 1) {
    const std::int64_t changed = nanoseconds_of(now.st_ctim);
    append_number(text, changed);
    latest = std::max(latest, changed);
  }
  return true;
}

std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace axle::installer
