#include "installer/store/stored_entries.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "foundation/system/parallel.h"
#include "installer/file_access.h"
#include "installer/file_hash.h"

namespace axle::installer {
namespace {

constexpr std::uint64_t longest_manifest = 1ULL << 30;

constexpr std::size_t sha256_digits = 64;

bool begins_with_sha256(std::string_view name) {
  return name.size() >= sha256_digits &&
         name.substr(0, sha256_digits).find_first_not_of("0123456789abcdef") == name.npos;
}

bool is_byte_code_name(std::string_view name) {
  return name.size() > sha256_digits && name[sha256_digits] == '-' && begins_with_sha256(name);
}

/// Empty: it is as it was.
std::string damage_of(const Descriptor& tree, const StoredFile& file) {
  struct stat status = {};
  if (::fstatat(tree.get(), file.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return says_absent(errno) ? "is missing" : "cannot be read";
  if (!S_ISREG(status.st_mode)) return "is not a file";
  if (static_cast<std::uint64_t>(status.st_size) != file.size)
    return fmt::format("has {} bytes instead of {}", status.st_size, file.size);
  const auto hash = hash_file(tree.get(), file.path);
  if (!hash) return "cannot be read";
  return *hash == file.sha256 ? "" : "has another content";
}

Result<std::vector<StoredEntry>> list_entries(const std::string& above,
                                              bool (*is_entry_name)(std::string_view)) {
  std::vector<StoredEntry> entries;
  std::error_code error;
  std::filesystem::directory_iterator folder(above, error);
  if (error && says_absent(error.value())) return entries;
  for (const std::filesystem::directory_iterator end; !error && folder != end;
       folder.increment(error)) {
    std::error_code unknown;
    const std::string name = folder->path().filename().string();
    const bool real =
        folder->symlink_status(unknown).type() == std::filesystem::file_type::directory;
    if (real && is_entry_name(name)) entries.push_back(read_stored_entry(folder->path().string()));
  }
  if (error) return std::unexpected(system_error("read", above, error.value()));
  std::ranges::sort(entries, {}, &StoredEntry::folder);
  return entries;
}

}  // namespace

bool is_wheel_name(std::string_view name) {
  return name.size() == sha256_digits && begins_with_sha256(name);
}

StoredEntry read_stored_entry(const std::string& folder) {
  StoredEntry entry{.sha256 = folder.substr(folder.rfind('/') + 1, sha256_digits),
                    .folder = folder};
  auto text = read_file(entry.folder + "/manifest", longest_manifest);
  if (!text) return entry;
  if (auto manifest = parse_manifest(*text, entry.folder)) {
    entry.manifest = std::move(*manifest);
    entry.state = EntryState::complete;
  } else if (is_newer_manifest(*text)) {
    entry.state = EntryState::newer;
  }
  return entry;
}

Result<std::vector<StoredEntry>> list_wheels(const std::string& store) {
  return list_entries(store + "/wheels", is_wheel_name);
}

Result<std::vector<StoredEntry>> list_byte_code(const std::string& store) {
  return list_entries(store + "/byte-code", is_byte_code_name);
}

std::vector<DamagedFile> find_damage(const StoredEntry& entry) {
  const auto tree = open_folder(entry.folder + "/tree");
  if (!tree) return {{"", "has no files"}};
  const auto& files = entry.manifest.files;
  std::vector<std::string> facts(files.size());
  system::for_each_at_once(files.size(), system::usable_processors(),
                           [&](std::size_t i) { facts[i] = damage_of(*tree, files[i]); });
  std::vector<DamagedFile> damaged;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!facts[i].empty()) damaged.push_back({files[i].path, std::move(facts[i])});
  }
  return damaged;
}

}  // namespace axle::installer
