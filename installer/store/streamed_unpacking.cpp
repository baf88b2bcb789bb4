#include "installer/store/streamed_unpacking.h"

#include <algorithm>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "foundation/system/signals_blocked.h"

namespace axle::installer {
namespace {

/// Bytes that were received and are not unpacked yet: for while a large file is created, or the
/// network pauses. More do not make it faster.
constexpr std::size_t window = 16U << 20;

/// Processors that would wait for each other: a member of hundreds of megabytes keeps one busy, and
/// the next one does not fit into the window beside it.
constexpr unsigned worth_a_file = 8;

/// A file without a name for what does not fit into the window of a wheel of `size` bytes, which
/// unpacks to `unpacked`; none where it would not be worth it, or the disk has no room to spare.
Descriptor file_aside(const std::string& folder, std::uint64_t size, std::uint64_t unpacked,
                      unsigned processors) {
  if (processors < worth_a_file || size <= 2 * window) return {};
  struct statvfs disk = {};
  if (::statvfs(folder.c_str(), &disk) != 0 ||
      std::uint64_t{disk.f_bavail} * disk.f_frsize < 2 * (size + unpacked)) {
    return {};
  }
  const std::string path = folder + ".arriving";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file) (void)::unlink(path.c_str());
  return file;
}

/// All wait for the same bytes: one large file is most of a large wheel.
constexpr unsigned most_threads = 8;

std::vector<const wheel::ZipEntry*> in_file_order(const wheel::ZipReader& archive) {
  std::vector<const wheel::ZipEntry*> entries;
  entries.reserve(archive.entries().size());
  for (const wheel::ZipEntry& entry : archive.entries()) entries.push_back(&entry);
  std::ranges::sort(entries, {}, &wheel::ZipEntry::header_offset);
  return entries;
}

/// Packed bytes between two places of a large member: few enough to be a small part of what is
/// fetched again, and so many that finding them takes no time that counts.
std::uint64_t distance_of_places(std::uint64_t wheel_size) {
  constexpr std::uint64_t least = 1U << 20;
  return std::max(least, wheel_size / 64);
}

}  // namespace

std::uint64_t StreamedUnpacking::Part::begin() const {
  return begun ? begun->place.data_offset + begun->place.packed_bits / 8 : entry->header_offset;
}

StreamedUnpacking::StreamedUnpacking(const wheel::WheelFile& wheel, const SeenParts& seen,
                                     const std::string& folder, Manifest& manifest,
                                     PartialWheel* partial, unsigned processors)
    : wheel_(wheel),
      seen_(seen),
      folder_(folder),
      partial_(partial),
      processors_(processors),
      writer_(folder, wheel.archive.where(), processors) {
  std::unordered_map<std::string_view, StoredFile*> files;
  for (StoredFile& file : manifest.files) files.emplace(file.path, &file);
  for (const wheel::ZipEntry* entry : in_file_order(wheel.archive)) {
    const auto found = files.find(entry->name);
    parts_.push_back({parts_.size(), entry, found == files.end() ? nullptr : found->second});
    parts_end_ = entry->record_end;
  }
}

Result<std::unique_ptr<StreamedUnpacking>> StreamedUnpacking::begin(
    const wheel::WheelFile& wheel, const SeenParts& seen, const std::string& folder,
    Manifest& manifest, PartialWheel* partial, unsigned processors) {
  std::unique_ptr<StreamedUnpacking> unpacking(
      new StreamedUnpacking(wheel, seen, folder, manifest, partial, processors));
  if (auto opened = unpacking->writer_.open(); !opened) return std::unexpected(opened.error());
  for (const StoredFile& file : manifest.files) {
    if (auto made = unpacking->writer_.make_folders(file.path); !made)
      return std::unexpected(made.error());
  }
  if (partial != nullptr && !partial->is_new()) {
    if (auto taken = unpacking->take_over(partial->log()); !taken)
      return std::unexpected(taken.error());
  }
  if (!unpacking->start()) return nullptr;
  return unpacking;
}

Result<void> StreamedUnpacking::take_over(const PartialLog& log) {
  const auto is_before = [](std::uint64_t offset) {
    return [offset](const wheel::Sha256Midpoint& hash) { return hash.bytes <= offset; };
  };
  std::vector<char> finished(parts_.size());
  std::vector<std::optional<Error>> errors(parts_.size());
  system::for_each_at_once(parts_.size(), system::usable_processors(), [&](std::size_t i) {
    Part& part = parts_[i];
    const bool is_done = log.done.contains(part.member);
    finished[i] = is_done && (part.file == nullptr || writer_.has(*part.file)) ? 1 : 0;
    if (finished[i] != 0 || part.file == nullptr) return;
    const auto place = log.places.find(part.member);
    // A file whose hash RECORD does not give is never compared with anything but its archive.
    if (place != log.places.end() && !part.file->sha256.empty() &&
        wheel::ZipReader::may_be_place(*part.entry, place->second)) {
      part.begun = writer_.reopen(*part.file, place->second);
    }
    if (part.begun) return;
    if (auto removed = writer_.remove(*part.file); !removed) errors[i] = removed.error();
  });
  for (std::optional<Error>& error : errors)
    if (error) return std::unexpected(std::move(*error));
  std::vector<Part> rest;
  // What was read by ranges has to come again.
  std::uint64_t wanted = seen_.begin();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (finished[i] != 0) continue;
    wanted = std::min(wanted, parts_[i].begin());
    rest.push_back(std::move(parts_[i]));
  }
  parts_ = std::move(rest);
  const auto known =
      std::ranges::find_if(log.hashes.rbegin(), log.hashes.rend(), is_before(wanted));
  if (known != log.hashes.rend()) from_ = *known;
  received_ = from_.bytes;
  return {};
}

StreamedUnpacking::~StreamedUnpacking() {
  if (!thread_.joinable()) return;
  file_->drop_rest();
  thread_.join();
}

bool StreamedUnpacking::start() {
  std::vector<std::uint64_t> begins;
  begins.reserve(parts_.size());
  for (const Part& part : parts_) begins.push_back(part.begin());
  std::uint64_t unpacked = 0;
  for (const Part& part : parts_) unpacked += part.entry->size;
  file_.emplace(std::move(begins), parts_end_, window, from_.bytes,
                file_aside(folder_, parts_end_ - from_.bytes, unpacked, processors_));
  try {
    const system::SignalsBlocked blocked;
    thread_ = std::thread([this] { unpack_all(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void StreamedUnpacking::unpack_all() {
  try {
    system::for_each_at_once(parts_.size(), std::min(processors_, most_threads),
                             [&](std::size_t part) { unpack(part); });
  } catch (...) {
    end_with(std::nullopt, std::current_exception());
  }
}

void StreamedUnpacking::unpack(std::size_t part) {
  // An exception must not leave parts unfinished, for which the file would wait.
  try {
    if (auto done = unpack_part(part); !done) end_with(std::move(done.error()), nullptr);
  } catch (...) {
    end_with(std::nullopt, std::current_exception());
  }
}

void StreamedUnpacking::end_with(std::optional<Error> error, std::exception_ptr thrown) {
  {
    const std::lock_guard lock(mutex_);
    // Who waits for bytes that do not come ends before those who have theirs.
    if (gives_up_ && thrown == nullptr) return;
    if (!error_ && thrown_ == nullptr) {
      error_ = std::move(error);
      thrown_ = std::move(thrown);
    }
  }
  file_->drop_rest();
}

bool StreamedUnpacking::give_up() {
  {
    const std::lock_guard lock(mutex_);
    if (error_ || thrown_ != nullptr) return false;
    gives_up_ = true;
  }
  file_->end();
  thread_.join();
  return thrown_ == nullptr;
}

Result<void> StreamedUnpacking::unpack_part(std::size_t part) {
  {
    const std::lock_guard lock(mutex_);
    if (error_ || thrown_ != nullptr) return {};
  }
  ArrivingFile::Part record(*file_, part);
  if (auto done = write_part(parts_[part], record); !done) return done;
  if (partial_ != nullptr) partial_->note_done(parts_[part].member);
  return {};
}

Result<void> StreamedUnpacking::write_part(Part& part, ArrivingFile::Part& record) {
  const wheel::ZipReader& archive = wheel_.archive;
  const wheel::ZipEntry& entry = *part.entry;
  if (part.file == nullptr) {
    return archive.read_in_order(record, entry,
                                 [](std::span<const std::byte>) -> Result<void> { return {}; });
  }
  WrittenPlaces written(
      [&](const wheel::ContentPlace& place) { partial_->note_place(part.member, place); });
  const wheel::PlacesWanted wanted{distance_of_places(seen_.end()),
                                   [&](const wheel::ContentPlace& place) { written.add(place); }};
  const bool has_places = partial_ != nullptr && entry.compressed_size > wanted.every;
  const auto content = [&](const wheel::ZipReader::Sink& sink) {
    const wheel::PlacesWanted* places = has_places ? &wanted : nullptr;
    if (!part.begun) return archive.read_in_order(record, entry, sink, places);
    return archive.continue_in_order(record, entry, part.begun->place,
                                     std::as_bytes(std::span(part.begun->window)), sink, places);
  };
  return writer_.write(*part.file, content, part.begun ? &*part.begun : nullptr,
                       has_places ? &written : nullptr);
}

Result<void> StreamedUnpacking::put(std::span<const std::byte> bytes) {
  agrees_ = agrees_ && seen_.agree(received_, bytes);
  received_ += bytes.size();
  {
    const std::lock_guard lock(mutex_);
    if (error_ && error_->kind == ErrorKind::io) return std::unexpected(*error_);
  }
  auto put = file_->put(bytes);
  // So that nobody goes on later: of a full disk nothing is kept.
  if (!put) end_with(put.error(), nullptr);
  return put;
}

Result<void> StreamedUnpacking::finish() {
  file_->end();
  thread_.join();
  if (!agrees_ || received_ != seen_.end()) {
    return fail(ErrorKind::mismatch,
                fmt::format("{}: the whole file differs from what its server gave of it by ranges",
                            wheel_.archive.where()),
                "try again; if this persists, report it to the operator of the index: it was not "
                "installed");
  }
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  if (error_) return std::unexpected(*error_);
  return {};
}

}  // namespace axle::installer
