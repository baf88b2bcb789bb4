#include "cli/input_file.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include <fmt/core.h>

namespace axle::cli {

namespace {

constexpr std::size_t most_bytes = 64U << 20;

/// A pipe has no size to ask for.
Result<std::string> read_bounded(std::istream& stream, const std::string& path) {
  std::string text;
  char block[1U << 14];
  while (stream) {
    stream.read(block, sizeof block);
    text.append(block, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > most_bytes)
      return fail(ErrorKind::malformed,
                  fmt::format("{}: too large, the limit is {} MiB", path, most_bytes >> 20));
  }
  if (stream.bad()) return fail(ErrorKind::io, fmt::format("{}: cannot be read", path));
  return text;
}

}  // namespace

Result<std::string> read_input(const std::string& path) {
  if (path == "-") return read_bounded(std::cin, path);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    return fail(ErrorKind::not_found, fmt::format("{}: no such file", path));
  if (std::filesystem::is_directory(status))
    return fail(ErrorKind::io, fmt::format("{}: a folder, and no file", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorKind::io, fmt::format("{}: cannot be read", path));
  return read_bounded(file, path);
}

}  // namespace axle::cli
