#include "installer/store/unpack.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "foundation/system/parallel.h"
#include "installer/store/member_writer.h"
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

Result<void> unpack(const wheel::ZipReader& archive, const MemberWriter& writer,
                    StoredFile& stored) {
  const wheel::ZipEntry* entry = archive.find(stored.path);
  if (entry == nullptr) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: {} is missing", archive.where(), stored.path));
  }
  return writer.write(
      stored, [&](const wheel::ZipReader::Sink& sink) { return archive.read(*entry, sink); });
}

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
      if (listed != hashes.end() && !listed->second->stronger_hash.empty()) {
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
  std::ranges::sort(manifest.files, {}, &StoredFile::path);
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
  MemberWriter writer(folder, wheel.archive.where());
  if (auto opened = writer.open(); !opened) return opened;
  std::uint64_t total = 0;
  std::vector<StoredFile*> files;
  for (StoredFile& file : manifest.files) {
    if (auto made = writer.make_folders(file.path); !made) return made;
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
                            : unpack(wheel.archive, writer, *files[i]);
        if (!unpacked) {
          const std::lock_guard lock(mutex);
          ended = true;
          if (!error) error = std::move(unpacked.error());
          return;
        }
        done += files[i]->size;
        if (std::this_thread::get_id() == caller)
          report.progress({"unpacking " + manifest.file_name, done, total, true});
      });
  if (error) return std::unexpected(std::move(*error));
  return {};
}

}  // namespace axle::installer
