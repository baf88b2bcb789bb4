#include "detect/drivers/library_search.h"

#include <algorithm>
#include <array>
#include <utility>

#include "detect/drivers/loader_cache.h"

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

LibrarySearch::LibrarySearch(Host& host)
    : host_(host), library_path_(host.environment("LD_LIBRARY_PATH").value_or("")) {}

std::string LibrarySearch::find_on_path(std::string_view file) const {
  for (const std::string_view folder : split_library_path(library_path_)) {
    std::string candidate = std::string(folder) + '/' + std::string(file);
    if (host_.accessible(candidate, Access::exists)) return candidate;
  }
  return {};
}

std::string LibrarySearch::find_in_folders(std::string_view file) const {
  for (const std::string_view folder : folders) {
    std::string candidate = std::string(folder) + '/' + std::string(file);
    if (host_.accessible(candidate, Access::exists)) return candidate;
  }
  return {};
}

std::vector<std::string> LibrarySearch::find_in_cache(std::string_view file) {
  if (!cache_)
    cache_ = host_.read_file(std::string(loader_cache_file), largest_loader_cache).value_or("");
  std::vector<std::string> paths = paths_in_loader_cache(*cache_, file);
  // The cache may be older than the removal of a package. Builds for some CPUs are next to the
  // plain one (ld.so(8), glibc-hwcaps); the loader decides which of them is used.
  std::erase_if(paths, [&](const std::string& path) {
    return path.contains("/glibc-hwcaps/") || !host_.accessible(path, Access::exists);
  });
  return paths;
}

std::string LibrarySearch::find(std::string_view file) {
  if (std::string found = find_on_path(file); !found.empty()) return found;
  if (std::string found = find_in_folders(file); !found.empty()) return found;
  std::vector<std::string> cached = find_in_cache(file);
  return cached.empty() ? std::string() : std::move(cached.front());
}

std::vector<std::string> LibrarySearch::find_all(std::string_view file) {
  std::vector<std::string> found;
  const auto add = [&](std::string path) {
    if (std::ranges::find(found, path) == found.end()) found.push_back(std::move(path));
  };
  const auto add_from = [&](std::string_view folder) {
    std::string path = std::string(folder) + '/' + std::string(file);
    if (host_.accessible(path, Access::exists)) add(std::move(path));
  };
  for (const std::string_view folder : split_library_path(library_path_)) add_from(folder);
  for (const std::string_view folder : folders) add_from(folder);
  for (std::string& path : find_in_cache(file)) add(std::move(path));
  return found;
}

}  // namespace axle::detect
