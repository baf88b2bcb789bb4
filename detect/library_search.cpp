#include "detect/library_search.h"

#include <algorithm>
#include <array>

namespace axle::detect {
namespace {

constexpr std::array<std::string_view, 14> folders{
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib/aarch64-linux-gnu/nvidia/current",
    "/usr/lib/aarch64-linux-gnu/tegra",
    "/usr/lib/aarch64-linux-gnu/nvidia",
    "/usr/lib64",
    "/usr/lib64/nvidia",
    "/usr/lib",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/opt/rocm/lib",
    "/run/opengl-driver/lib",
    "/usr/local/lib",
};

constexpr std::size_t largest_loader_cache = 4 * 1024 * 1024;

}  // namespace

std::span<const std::string_view> system_library_folders() { return folders; }

std::vector<std::string_view> split_library_path(std::string_view path) {
  std::vector<std::string_view> parts;
  if (path.empty()) return parts;
  while (true) {
    const std::size_t end = path.find_first_of(":;");
    const std::string_view part = path.substr(0, end);
    parts.push_back(part.empty() ? "." : part);
    if (end == std::string_view::npos) return parts;
    path.remove_prefix(end + 1);
  }
}

std::string find_on_library_path(Host& host, std::string_view file) {
  const std::string path = host.environment("LD_LIBRARY_PATH").value_or("");
  for (const std::string_view folder : split_library_path(path)) {
    std::string candidate = std::string(folder) + '/' + std::string(file);
    if (host.accessible(candidate, Access::exists)) return candidate;
  }
  return {};
}

std::string find_library(Host& host, std::string_view file) {
  if (std::string found = find_on_library_path(host, file); !found.empty()) return found;
  for (const std::string_view folder : folders) {
    std::string candidate = std::string(folder) + '/' + std::string(file);
    if (host.accessible(candidate, Access::exists)) return candidate;
  }
  const auto cache = host.read_file("/etc/ld.so.cache", largest_loader_cache);
  if (!cache) return {};
  // Names in the cache end with a zero byte and begin after one or after a slash.
  std::string name(file);
  name += '\0';
  for (std::size_t at = cache->find(name); at != std::string::npos;
       at = cache->find(name, at + 1)) {
    if (at > 0 && ((*cache)[at - 1] == '\0' || (*cache)[at - 1] == '/')) return std::string(file);
  }
  return {};
}

}  // namespace axle::detect
