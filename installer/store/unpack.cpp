#include "installer/store/unpack.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "foundation/system/parallel.h"
#include "installer/file_access.h"
#include "wheel/hash/sha256.h"
#include "wheel/variant/variant_markers.h"

namespace axle::installer {
namespace {

/// Unpacked bytes; a thread takes as long to start as some hundred KB to unpack.
constexpr std::uint64_t worth_threads = 8U << 20;

/// RECORD itself and its signatures have no hash.
bool may_lack_hash(std::string_view path, const std::string& dist_info) {
  return path == dist_info + "/RECORD" || path == dist_info + "/RECORD.jws" ||
         path == dist_info + "/RECORD.p7s";
}

class Unpacker {
 public:
  Unpacker(const wheel::WheelFile& wheel, const std::string& folder)
      : wheel_(wheel), folder_(folder) {}

  Result<void> open() {
    auto opened = open_folder(folder_);
    if (!opened) return std::unexpected(opened.error());
    root_ = std::move(*opened);
    return {};
  }

  /// Those above a file. Not by several threads at once.
  Result<void> make_folders(std::string_view path) {
    const std::size_t last = path.rfind('/');
    if (last == std::string_view::npos || folders_.contains(std::string(path.substr(0, last))))
      return {};
    for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
         slash = path.find('/', slash + 1)) {
      std::string folder(path.substr(0, slash));
      if (folders_.contains(folder)) continue;
      if (::mkdirat(root_.get(), folder.c_str(), 0777) != 0) {
        return std::unexpected(system_error("create", folder_ + "/" + folder, errno));
      }
      folders_.insert(std::move(folder));
    }
    return {};
  }

  /// Several threads may unpack different files.
  Result<void> unpack(StoredFile& stored) const {
    const wheel::ZipEntry* entry = wheel_.archive.find(stored.path);
    if (entry == nullptr) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: {} is missing", wheel_.archive.where(), stored.path));
    }
    const std::string path = folder_ + "/" + stored.path;
    const Descriptor file(::openat(root_.get(), stored.path.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                                   stored.executable ? 0777 : 0666));
    if (!file) return std::unexpected(system_error("create", path, errno));
    wheel::Sha256 hash;
    auto done = wheel_.archive.read(*entry, [&](std::span<const std::byte> bytes) {
      hash.update(bytes);
      return write_all(file.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                       path);
    });
    if (!done) return done;
    const std::string digest = wheel::render_base64(hash.finish());
    if (!stored.sha256.empty() && digest != stored.sha256) {
      return fail(ErrorKind::mismatch,
                  fmt::format("{}: the hash of {} differs from that in RECORD",
                              wheel_.archive.where(), stored.path),
                  "the wheel was altered or is badly built: ask its publisher for another");
    }
    stored.sha256 = digest;
    struct stat status = {};
    if (::fstat(file.get(), &status) != 0)
      return std::unexpected(system_error("read", path, errno));
    stored.modified = status.st_mtim.tv_sec;
    stored.mode = status.st_mode & 07777U;
    stored.modified_now = nanoseconds_of(status.st_mtim);
    return {};
  }

 private:
  const wheel::WheelFile& wheel_;
  const std::string& folder_;
  Descriptor root_;
  std::unordered_set<std::string> folders_;
};

}  // namespace

Result<Manifest> plan_unpacking(const wheel::WheelFile& wheel, std::string file_name) {
  auto record = wheel::read_checked_record(wheel);
  if (!record) return std::unexpected(record.error());
  std::unordered_map<std::string_view, const wheel::RecordEntry*> hashes;
  for (const wheel::RecordEntry& entry : *record) hashes.emplace(entry.path, &entry);
  Manifest manifest{std::move(file_name), wheel.dist_info, wheel.purelib, {}, false, {}};
  manifest.variant_markers =
      std::ranges::any_of(wheel.metadata.requires_dist, [](const wheel::Requirement& requirement) {
        return requirement.marker && wheel::mentions_variant(*requirement.marker);
      });
  for (const wheel::ZipEntry& entry : wheel.archive.entries()) {
    if (entry.directory) continue;
    const auto listed = hashes.find(entry.name);
    const std::string hash = listed == hashes.end() ? std::string() : listed->second->sha256;
    if (hash.empty() && !may_lack_hash(entry.name, wheel.dist_info)) {
      if (listed != hashes.end() && listed->second->stronger_hash) {
        return fail(ErrorKind::unsupported,
                    fmt::format("{}: RECORD gives only a sha384 or sha512 hash for {}, and only "
                                "sha256 can be verified here",
                                wheel.archive.where(), entry.name),
                    "ask its publisher for a wheel whose RECORD has sha256 hashes");
      }
      return fail(
          ErrorKind::malformed,
          fmt::format("{}: RECORD gives no sha256 for {}", wheel.archive.where(), entry.name),
          "the wheel is badly built: ask its publisher for another");
    }
    manifest.files.push_back({entry.name, hash, entry.size, 0, entry.executable});
  }
  const wheel::ZipEntry* entry_points = wheel.archive.find(wheel.dist_info + "/entry_points.txt");
  if (entry_points != nullptr) {
    constexpr std::uint64_t limit = 1U << 20;
    auto text = wheel.archive.read_text(*entry_points, limit);
    if (!text) return std::unexpected(text.error());
    if (text->find('\0') != std::string::npos) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: entry_points.txt is not text", wheel.archive.where()));
    }
    manifest.entry_points = std::move(*text);
  }
  return manifest;
}

Result<void> unpack_wheel(const wheel::WheelFile& wheel, const std::string& folder,
                          Manifest& manifest, Report& report, const std::stop_token& stop) {
  Unpacker unpacker(wheel, folder);
  if (auto opened = unpacker.open(); !opened) return opened;
  std::uint64_t total = 0;
  std::vector<StoredFile*> files;
  for (StoredFile& file : manifest.files) {
    if (auto made = unpacker.make_folders(file.path); !made) return made;
    total += file.size;
    files.push_back(&file);
  }
  // A library may be most of the wheel: nothing else should be left to do when it is begun.
  if (total >= worth_threads) {
    std::ranges::sort(files, [](const StoredFile* a, const StoredFile* b) {
      return a->size != b->size ? a->size > b->size : a->path < b->path;
    });
  }
  std::atomic<std::uint64_t> done = 0;
  std::mutex mutex;
  std::optional<Error> error;
  std::atomic<bool> ended = false;
  const std::thread::id caller = std::this_thread::get_id();
  system::for_each_at_once(
      files.size(), total < worth_threads ? 1 : system::usable_processors(), [&](std::size_t i) {
        if (ended) return;
        auto unpacked = stop.stop_requested()
                            ? fail(ErrorKind::io, manifest.file_name + ": not needed")
                            : unpacker.unpack(*files[i]);
        if (!unpacked) {
          const std::lock_guard lock(mutex);
          ended = true;
          if (!error) error = std::move(unpacked.error());
          return;
        }
        done += files[i]->size;
        if (std::this_thread::get_id() == caller)
          report.progress("unpacking " + manifest.file_name, done, total);
      });
  if (error) return std::unexpected(std::move(*error));
  return {};
}

}  // namespace axle::installer
