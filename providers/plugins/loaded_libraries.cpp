#include "providers/plugins/loaded_libraries.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <link.h>

namespace axle::plugins {
namespace {

namespace fs = std::filesystem;

bool is_loaders_own(std::string_view folder) {
  return folder.starts_with("/lib") || folder.starts_with("/usr/lib");
}

}  // namespace

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* kept) {
        // The program itself has an empty name here, and the kernel's own mapping has no file.
        const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (name.contains('/')) static_cast<std::vector<std::string>*>(kept)->emplace_back(name);
        return 0;
      },
      &names);
  for (std::string& name : names) {
    std::error_code error;
    if (const fs::path path = fs::absolute(name, error); !error) name = path.lexically_normal();
  }
  return names;
}

std::string library_path_of(std::span<const std::string> libraries) {
  std::vector<std::string> folders;
  for (const std::string& library : libraries) {
    std::string folder = fs::path(library).parent_path().string();
    // Folder names that the loader would split or expand are skipped (ld.so(8)).
    const bool plain = folder.find_first_of(":;$") == std::string::npos;
    const bool known = std::ranges::find(folders, folder) != folders.end();
    if (plain && !known && !is_loaders_own(folder)) folders.push_back(std::move(folder));
  }
  std::string joined;
  for (const std::string& folder : folders) joined += (joined.empty() ? "" : ":") + folder;
  return joined;
}

}  // namespace axle::plugins
