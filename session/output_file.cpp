#include "session/output_file.h"

#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>

#include "foundation/system/descriptor.h"
#include "foundation/system/whole_file.h"

namespace axle::session {

Outcome<void> write_output(const std::string& path, std::string_view text, std::string_view what,
                           std::optional<mode_t> mode) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  const std::string target = error ? path : resolved.string();
  if (!fs::exists(target, error) || fs::is_regular_file(target, error)) {
    error = system::write_whole_file(target, text, {.flush = system::Flush::no, .mode = mode});
  } else {
    const system::Descriptor file(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    error = file ? system::write_all(file.get(), text) : system::last_error();
  }
  if (!error) return {};
  return failed({ErrorKind::io,
                 fmt::format("{}: the {} could not be written: {}", path, what, error.message()),
                 "choose a file in an existing, writable folder"});
}

}  // namespace axle::session
