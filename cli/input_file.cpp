#include "cli/input_file.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

#include <fmt/core.h>

namespace axle::cli {

namespace {

constexpr std::uintmax_t most_bytes = 64U << 20;

}  // namespace

Result<std::string> read_input(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail(ErrorKind::not_found, fmt::format("{}: no such file", path));
  if (size > most_bytes) return fail(ErrorKind::malformed, fmt::format("{}: too large", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorKind::io, fmt::format("{}: cannot be read", path));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace axle::cli
