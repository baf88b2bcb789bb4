#include "installer/store/member_writer.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/store/following_sink.h"
#include "wheel/hash/sha256.h"

namespace axle::installer {
namespace {

/// Bytes: hashing and writing them takes some hundred times as long as starting a thread.
constexpr std::uint64_t worth_follower = 8U << 20;

/// Processors of which hashing and writing take one each: a large file is inflated as fast as both
/// together take.
constexpr unsigned worth_two_followers = 4;

/// A file that a dead process left, to be read and written.
Descriptor open_left(int root, const std::string& path, std::uint64_t least) {
  Descriptor file(::openat(root, path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_nlink != 1 || status.st_size < 0 ||
      static_cast<std::uint64_t>(status.st_size) < least) {
    return {};
  }
  return file;
}

/// Gives the first `size` bytes of the file to `take`. False: they cannot be read.
template <class Take>
bool read_first(const Descriptor& file, std::uint64_t size, Take take) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(size, 1U << 20));
  for (std::uint64_t done = 0; done < size;) {
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), size - done);
    const ssize_t got = ::pread(file.get(), buffer.data(), wanted, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    take(std::span<const std::byte>(buffer).first(static_cast<std::size_t>(got)));
    done += static_cast<std::uint64_t>(got);
  }
  return true;
}

bool describe(const Descriptor& file, StoredFile& stored) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return false;
  stored.modified = status.st_mtim.tv_sec;
  stored.mode = status.st_mode & 07777U;
  stored.modified_now = nanoseconds_of(status.st_mtim);
  return true;
}

}  // namespace

void WrittenPlaces::add(const wheel::ContentPlace& place) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(place);
}

void WrittenPlaces::reach(std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  for (; !waiting_.empty() && waiting_.front().size <= size; waiting_.pop_front())
    keep_(waiting_.front());
}

Result<void> MemberWriter::open() {
  auto opened = open_folder(folder_);
  if (!opened) return std::unexpected(opened.error());
  root_ = std::move(*opened);
  return {};
}

Result<void> MemberWriter::make_folders(std::string_view path) {
  const std::size_t last = path.rfind('/');
  if (last == std::string_view::npos || folders_.contains(std::string(path.substr(0, last))))
    return {};
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    std::string folder(path.substr(0, slash));
    if (folders_.contains(folder)) continue;
    // What is there was found to be a folder when the tree was taken over.
    if (::mkdirat(root_.get(), folder.c_str(), 0777) != 0 && errno != EEXIST) {
      return std::unexpected(system_error("create", folder_ + "/" + folder, errno));
    }
    folders_.insert(std::move(folder));
  }
  return {};
}

Result<void> MemberWriter::write(StoredFile& stored, const Content& content, BegunFile* begun,
                                 WrittenPlaces* places) const {
  const std::string path = folder_ + "/" + stored.path;
  const Descriptor file =
      begun != nullptr ? std::move(begun->file)
                       : Descriptor(::openat(root_.get(), stored.path.c_str(),
                                             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                                             stored.executable ? 0777 : 0666));
  if (!file) return std::unexpected(system_error("create", path, errno));
  wheel::Sha256 hash = begun != nullptr ? std::move(begun->hash) : wheel::Sha256();
  std::uint64_t size = begun != nullptr ? begun->place.size : 0;
  const auto write = [&](std::span<const std::byte> bytes) -> Result<void> {
    auto written =
        write_all(file.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
    size += bytes.size();
    if (written && places != nullptr) places->reach(size);
    return written;
  };
  const auto hash_and_write = [&](std::span<const std::byte> bytes) -> Result<void> {
    hash.update(bytes);
    return write(bytes);
  };
  if (stored.size < worth_follower || processors_ == 1) {
    if (auto done = content(hash_and_write); !done) return done;
  } else {
    std::optional<FollowingSink> writer;
    if (processors_ >= worth_two_followers) writer.emplace(write);
    const auto hash_and_pass_on = [&](std::span<const std::byte> bytes) -> Result<void> {
      hash.update(bytes);
      return writer->take(bytes);
    };
    FollowingSink follower(writer ? wheel::ZipReader::Sink(hash_and_pass_on) : hash_and_write);
    auto done = content([&](auto bytes) { return follower.take(bytes); });
    // What came before an error is written, too, if somebody may go on there.
    if (done || places != nullptr) {
      auto followed = follower.finish();
      if (followed && writer) followed = writer->finish();
      if (done) done = std::move(followed);
    }
    if (!done) return done;
  }
  const std::string digest = wheel::render_base64(hash.finish());
  if (!stored.sha256.empty() && digest != stored.sha256) {
    return fail(ErrorKind::mismatch,
                fmt::format("{}: the hash of {} differs from that in RECORD", where_, stored.path),
                "the wheel was altered or is badly built: ask its publisher for another");
  }
  stored.sha256 = digest;
  if (!describe(file, stored)) return std::unexpected(system_error("read", path, errno));
  return {};
}

bool MemberWriter::has(StoredFile& stored) const {
  if (stored.sha256.empty()) return false;
  const Descriptor file = open_left(root_.get(), stored.path, stored.size);
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) != stored.size) {
    return false;
  }
  wheel::Sha256 hash;
  return read_first(file, stored.size, [&](auto bytes) { hash.update(bytes); }) &&
         wheel::render_base64(hash.finish()) == stored.sha256 && describe(file, stored);
}

std::optional<BegunFile> MemberWriter::reopen(const StoredFile& stored,
                                              const wheel::ContentPlace& place) const {
  BegunFile begun{place, open_left(root_.get(), stored.path, place.size), {}, {}};
  std::uint32_t crc32 = 0;
  const auto take = [&](std::span<const std::byte> bytes) {
    begun.hash.update(bytes);
    crc32 = wheel::continue_crc32(crc32, bytes);
    begun.window.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (begun.window.size() > 2 * wheel::ContentPlace::window)
      begun.window.erase(0, begun.window.size() - wheel::ContentPlace::window);
  };
  const auto end = static_cast<off_t>(place.size);
  if (place.size > stored.size || !begun.file || !read_first(begun.file, place.size, take) ||
      crc32 != place.crc32 || ::ftruncate(begun.file.get(), end) != 0 ||
      ::lseek(begun.file.get(), 0, SEEK_END) != end) {
    return std::nullopt;
  }
  return begun;
}

Result<void> MemberWriter::remove(const StoredFile& stored) const {
  if (::unlinkat(root_.get(), stored.path.c_str(), 0) == 0 || errno == ENOENT) return {};
  return std::unexpected(system_error("remove", folder_ + "/" + stored.path, errno));
}

}  // namespace axle::installer
