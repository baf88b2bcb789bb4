#include "builder/toolchains/disk_space.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

bool is_full(const std::error_code& error) {
  return error == std::errc::no_space_on_device || error.value() == EDQUOT;
}

/// A file system may still have its last block free when a compiler's file has found none.
std::error_code write_something(const fs::path& folder) {
  constexpr std::size_t enough = std::size_t{64} << 10;
  std::string name = (folder / "space-XXXXXX").string();
  system::Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) return system::last_error();
  std::error_code error = system::write_all(file.get(), std::string(enough, ' '));
  if (!error) error = file.close();
  ::unlink(name.c_str());
  return error;
}

Error without_space(std::string_view what, const std::string& place, std::string_view why) {
  return {ErrorKind::io, fmt::format("{}: {}: {}", what, place, why),
          "make room there, or choose another place with --cache-dir and TMPDIR"};
}

}  // namespace

std::optional<Error> lack_of_space(std::string_view what, const std::string& folder,
                                   std::string_view said) {
  std::error_code ignored;
  const fs::path temporary = fs::temp_directory_path(ignored);
  for (const fs::path& place : {fs::path(folder), temporary}) {
    if (place.empty()) continue;
    if (const std::error_code error = write_something(place); is_full(error))
      return without_space(what, place.string(), error.message());
  }
  // The C library's words (LC_ALL=C): something may have been removed since.
  for (const std::string_view words : {"No space left on device", "Disk quota exceeded"}) {
    if (said.find(words) != std::string_view::npos)
      return without_space(what, fmt::format("{} or {}", folder, temporary.string()), words);
  }
  return std::nullopt;
}

}  // namespace axle::builder
