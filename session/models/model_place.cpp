#include "session/models/model_place.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <unordered_set>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/cache/cache_lock.h"
#include "session/sole_owner.h"
#include "wheel/hash/sha256.h"
#include "wheel/zip/zip_reader.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t key_digits = 32;

bool ends_with(const fs::path& path, std::string_view ending) {
  return path.filename().string().ends_with(ending);
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// What is in a folder, by name; nothing of one that cannot be read.
std::vector<fs::path> list_folder(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    paths.push_back(entry->path());
  std::ranges::sort(paths);
  return paths;
}

bool holds_model(const fs::path& folder) {
  return is_there(folder / "config.json") ||
         std::ranges::any_of(list_folder(folder),
                             [](const fs::path& path) { return ends_with(path, ".gguf"); });
}

/// The archive that is meant by what was given; nullopt: none.
Result<std::optional<std::string>> find_archive(const std::string& given) {
  std::error_code error;
  if (fs::is_regular_file(given, error))
    return ends_with(given, ".zip") ? std::optional(given) : std::nullopt;
  if (!fs::is_directory(given, error) || holds_model(given)) return std::nullopt;
  std::vector<fs::path> archives = list_folder(given);
  std::erase_if(archives, [](const fs::path& path) { return !ends_with(path, ".zip"); });
  if (archives.empty()) return std::nullopt;
  if (archives.size() > 1)
    return fail(ErrorKind::malformed,
                fmt::format("{}: the folder holds {} archives", given, archives.size()),
                fmt::format("name one, such as {}", archives.front().string()));
  return archives.front().string();
}

/// Another one for an archive at another place, or with another content.
Result<std::string> key_of(const std::string& archive) {
  struct stat status = {};
  if (::stat(archive.c_str(), &status) != 0)
    return std::unexpected(installer::system_error("read", archive, errno));
  std::error_code error;
  const std::string place = fs::canonical(archive, error).string();
  const std::string facts = fmt::format("{} {} {} {} {} {}", place, status.st_dev, status.st_ino,
                                        status.st_size, installer::nanoseconds_of(status.st_mtim),
                                        installer::nanoseconds_of(status.st_ctim));
  return wheel::render_hex(wheel::sha256(facts)).substr(0, key_digits);
}

Result<void> make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return std::unexpected(installer::system_error("create", path, error.value()));
  return {};
}

/// The reader has checked that names stay below the folder and lie beside each other.
Result<void> unpack_entry(const wheel::ZipReader& zip, const wheel::ZipEntry& entry,
                          const std::string& path) {
  const installer::Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file) return std::unexpected(installer::system_error("create", path, errno));
  auto done = zip.read(entry, [&](std::span<const std::byte> bytes) {
    return installer::write_all(file.get(),
                                {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  });
  // What is in the cache after a power failure is whole.
  if (done && ::fsync(file.get()) != 0)
    return std::unexpected(installer::system_error("write", path, errno));
  return done;
}

Result<void> unpack(const std::string& archive, const std::string& folder) {
  auto source = wheel::open_file_source(archive);
  if (!source) return std::unexpected(std::move(source).error());
  const auto zip = wheel::ZipReader::open(std::move(*source), archive);
  if (!zip) return std::unexpected(zip.error());
  for (const wheel::ZipEntry& entry : zip->entries()) {
    const std::string path = folder + "/" + entry.name;
    auto done = make_folders(entry.directory ? path : fs::path(path).parent_path().string());
    if (done && !entry.directory) done = unpack_entry(*zip, entry, path);
    if (!done) return done;
  }
  return {};
}

/// Archives often hold one folder, and everything in that.
std::string model_folder(const std::string& unpacked) {
  const std::vector<fs::path> inside = list_folder(unpacked);
  std::error_code error;
  const bool is_one = inside.size() == 1 && fs::is_directory(inside.front(), error);
  return is_one && !holds_model(unpacked) ? inside.front().string() : unpacked;
}

/// Unpacks the archive as `kept`, unless it is there.
Result<void> keep_unpacked(const std::string& archive, const std::string& place,
                           const std::string& kept) {
  // Its time says when it was last used.
  if (::utimensat(AT_FDCWD, kept.c_str(), nullptr, 0) == 0) return {};
  auto work = installer::WorkFolder::create(place);
  if (!work) return std::unexpected(std::move(work).error());
  if (auto done = unpack(archive, work->path()); !done) return done;
  if (::rename(work->path().c_str(), kept.c_str()) == 0) {
    work->leave();
    return {};
  }
  // Another process was faster.
  if (errno == EEXIST || errno == ENOTEMPTY) return {};
  return std::unexpected(installer::system_error("create", kept, errno));
}

}  // namespace

Result<ModelPlace> ModelPlace::find(Session& session, const std::string& given) {
  const auto archive = find_archive(given);
  if (!archive) return std::unexpected(archive.error());
  if (!*archive) return ModelPlace(given);
  ModelPlace place(given);
  const std::string cache = session.cache_folder();
  const auto own = cache.empty() ? fail(ErrorKind::io, "no cache") : own_folder(cache);
  const auto models = own ? own_folder(*own + "/models") : own;
  if (models) {
    const auto key = key_of(**archive);
    if (!key) return std::unexpected(key.error());
    place.cache_lock_ = share_cache(cache, session.report());
    const std::string kept = *models + "/" + *key;
    if (auto done = keep_unpacked(**archive, *models, kept); !done)
      return std::unexpected(std::move(done).error());
    place.path_ = model_folder(kept);
    return place;
  }
  std::error_code error;
  auto work =
      installer::WorkFolder::create(fs::temp_directory_path(error).string(), "axle-models-");
  if (!work) return std::unexpected(std::move(work).error());
  if (auto done = unpack(**archive, work->path()); !done)
    return std::unexpected(std::move(done).error());
  place.path_ = model_folder(work->path());
  place.temporary_.emplace(std::move(*work));
  return place;
}

}  // namespace axle::session
