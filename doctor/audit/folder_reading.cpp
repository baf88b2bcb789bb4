#include "doctor/audit/folder_reading.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "doctor/audit/dist_info_reading.h"
#include "doctor/audit/large_buffer.h"
#include "doctor/audit/library_reading.h"
#include "doctor/audit/wheel_reading.h"
#include "foundation/elf/elf_tables.h"
#include "foundation/system/parallel.h"
#include "installer/environment/ownership.h"

namespace axle::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 2'000'000;

/// A regular file of a folder.
struct FolderFile {
  std::string path;  ///< of the system
  std::string name;  ///< relative to what is audited
  std::uint64_t size = 0;
};

/// Its first bytes are those of an ELF file.
bool begins_like_library(wheel::ByteSource& source) {
  std::array<std::byte, 4> magic{};
  if (source.size() < magic.size() || !source.read(0, magic)) return false;
  return elf::is_elf({reinterpret_cast<const char*>(magic.data()), magic.size()});
}

/// Nothing for a file that is no library; what cannot be opened may be one.
void read_file(const FolderFile& file, unsigned threads, std::mutex& mutex, Audited& audited) {
  const auto source = wheel::open_file_source(file.path);
  if (!source) {
    const std::lock_guard lock(mutex);
    return add_library(audited, unread_library(file.name, source.error()));
  }
  if (!begins_like_library(**source)) return;
  const std::uint64_t size = (*source)->size();
  LargeBuffer buffer(std::min(size, largest_audited_library));
  if (size > largest_audited_library || !buffer.ok()) {
    const std::lock_guard lock(mutex);
    return add_library(audited, too_large_library(file.name, size));
  }
  if (const auto read = (*source)->read(0, buffer.room().first(size)); !read) {
    const std::lock_guard lock(mutex);
    return add_library(audited, UnreadLibrary{file.name, read.error().message, false});
  }
  buffer.grow(size);
  ReadLibrary library = read_audited_library(file.name, buffer.view(), threads);
  const std::lock_guard lock(mutex);
  add_library(audited, std::move(library));
}

void read_files(std::vector<FolderFile> files, Audited& audited) {
  std::ranges::sort(files, std::ranges::greater(), &FolderFile::size);
  std::vector<std::uint64_t> sizes;
  for (const FolderFile& file : files) {
    sizes.push_back(file.size);
    audited.size += file.size;
  }
  const unsigned processors = system::usable_processors();
  const unsigned readers = readers_for(sizes, processors);
  std::mutex mutex;
  system::for_each_at_once(files.size(), readers, [&](std::size_t i) {
    read_file(files[i], std::max(1U, processors / readers), mutex, audited);
  });
  sort_libraries(audited);
}

constexpr const char* closed_folder = "the folder cannot be read: permission denied";

/// All files below `folder`, without following links. `name`s are relative to it. `closed`: folders
/// of which nothing is known.
Result<std::vector<FolderFile>> list_files(const std::string& folder,
                                           std::vector<UnreadLibrary>& closed) {
  std::vector<FolderFile> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code gone;
    const fs::file_type type = at->symlink_status(gone).type();
    if (type == fs::file_type::directory && ::access(at->path().c_str(), R_OK | X_OK) != 0) {
      closed.push_back({at->path().lexically_relative(folder).generic_string(), closed_folder});
      at.disable_recursion_pending();
    }
    if (type != fs::file_type::regular) continue;
    const std::uint64_t size = at->file_size(gone);
    if (gone) continue;
    if (files.size() == most_files)
      return fail(ErrorKind::unsupported,
                  fmt::format("{}: it has more than {} files", folder, most_files),
                  "name a folder inside");
    files.push_back(
        {at->path().string(), at->path().lexically_relative(folder).generic_string(), size});
  }
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", folder, error.message()));
  return files;
}

/// The files directly in `folder` with that ending, sorted.
Result<std::vector<std::string>> list_names(const std::string& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(ending)) names.push_back(name);
  }
  if (error)
    return fail(
        error == std::errc::no_such_file_or_directory ? ErrorKind::not_found : ErrorKind::io,
        fmt::format("{}: {}", folder, error.message()));
  std::ranges::sort(names);
  return names;
}

/// The release in a folder: its wheels under their file names, since several have one title.
Result<std::vector<Audited>> read_wheels(const std::string& folder,
                                         const std::vector<std::string>& names, Report& report) {
  std::vector<Audited> all;
  for (const std::string& name : names) {
    report.progress({"auditing " + name, all.size(), names.size()});
    auto audited = read_audited_wheel(folder + "/" + name, report);
    if (!audited) return std::unexpected(std::move(audited).error());
    if (names.size() > 1) audited->title = name;
    all.push_back(std::move(*audited));
  }
  return all;
}

/// The packages whose dist-info folders are in `folder`, and what belongs to none as a tree.
Result<std::vector<Audited>> read_site(const std::string& folder,
                                       const std::vector<std::string>& dist_infos, Report& report) {
  std::vector<UnreadLibrary> closed;
  auto files = list_files(folder, closed);
  if (!files) return std::unexpected(std::move(files).error());
  std::vector<Audited> all;
  for (const std::string& dist_info : dist_infos)
    all.push_back(read_dist_info(folder + "/" + dist_info, report));
  std::unordered_map<std::string_view, std::size_t> owners;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::string& name : all[i].files) owners.try_emplace(name, i);
  }
  std::vector<std::vector<FolderFile>> found(all.size() + 1);
  for (FolderFile& file : *files) {
    const auto owner = owners.find(file.name);
    found[owner == owners.end() ? all.size() : owner->second].push_back(std::move(file));
  }
  for (std::size_t i = 0; i < all.size(); ++i) read_files(std::move(found[i]), all[i]);
  Audited rest;
  rest.kind = AuditedKind::tree;
  rest.place = folder;
  rest.title = folder;
  for (const FolderFile& file : found.back()) rest.files.push_back(file.name);
  rest.unread = std::move(closed);
  read_files(std::move(found.back()), rest);
  if (!rest.libraries.empty() || !rest.unread.empty() || all.empty())
    all.push_back(std::move(rest));
  return all;
}

}  // namespace

Result<std::vector<Audited>> read_audited_folder(const std::string& folder, Report& report) {
  const auto wheels = list_names(folder, ".whl");
  if (!wheels) return std::unexpected(wheels.error());
  if (!wheels->empty()) return read_wheels(folder, *wheels, report);
  const auto dist_infos = list_names(folder, ".dist-info");
  if (!dist_infos) return std::unexpected(dist_infos.error());
  return read_site(folder, *dist_infos, report);
}

bool is_library_file(const std::string& path) {
  const auto source = wheel::open_file_source(path);
  return source && begins_like_library(**source);
}

std::vector<Audited> read_audited_packages(
    const std::vector<installer::InstalledDistribution>& distributions, Findings& findings,
    Report& report) {
  std::vector<Audited> all;
  for (const installer::InstalledDistribution& distribution : distributions) {
    if (distribution.outer || !distribution.dist_info.ends_with(".dist-info")) continue;
    report.progress({"auditing " + distribution.name, all.size(), distributions.size()});
    Audited audited = read_dist_info(distribution.dist_info, report);
    const std::string site = fs::path(distribution.dist_info).parent_path().string();
    if (!distribution.has_record)
      findings.not_looked_at(fmt::format("{}: it has no RECORD", audited.title));
    std::vector<FolderFile> files;
    for (const std::string& name : audited.files) {
      const std::string path = (fs::path(site) / name).lexically_normal().string();
      std::error_code gone;
      if (fs::symlink_status(path, gone).type() != fs::file_type::regular) {
        if (gone == std::errc::permission_denied)
          add_library(audited, UnreadLibrary{name, gone.message()});
        continue;
      }
      const std::uint64_t size = fs::file_size(path, gone);
      if (!gone) files.push_back({path, name, size});
    }
    read_files(std::move(files), audited);
    all.push_back(std::move(audited));
  }
  return all;
}

}  // namespace axle::doctor
