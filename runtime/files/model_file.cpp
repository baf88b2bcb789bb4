#include "runtime/files/model_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace axle::runtime {
namespace {

std::unexpected<Failure> io_failure(const std::string& path) {
  return failure(AXLE_IO, "%s: %s", path.c_str(), std::strerror(errno));
}

std::uint64_t end_of(int descriptor) {
  const off_t end = lseek(descriptor, 0, SEEK_END);
  return end < 0 ? 0 : static_cast<std::uint64_t>(end);
}

}  // namespace

Result<ModelFile> ModelFile::open(const std::string& path) {
  ModelFile file(path);
  // Opening a pipe would wait for a writer. (fstat has another symbol version since glibc 2.33:
  // what is no regular file shows itself by what cannot be done with it.)
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor_ < 0) return io_failure(path);
  char first = 0;
  if (pread(file.descriptor_, &first, 1, 0) < 0) {
    if (errno == ESPIPE) return failure(AXLE_IO, "%s: not a regular file", path.c_str());
    return io_failure(path);
  }
  file.size_ = end_of(file.descriptor_);
  return file;
}

ModelFile ModelFile::in_memory(std::span<const std::byte> bytes, std::string name) {
  ModelFile file(std::move(name));
  file.memory_ = bytes.data();
  file.size_ = bytes.size();
  return file;
}

ModelFile::ModelFile(ModelFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      memory_(std::exchange(other.memory_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

ModelFile::~ModelFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<void> ModelFile::read(std::uint64_t at, std::span<std::byte> to) const {
  if (descriptor_ < 0) {
    if (!to.empty()) std::memcpy(to.data(), memory_ + at, to.size());
    return {};
  }
  while (!to.empty()) {
    const ssize_t count = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return failure(AXLE_IO, "%s: byte %llu cannot be read: %s", path_.c_str(), wide(at),
                     std::strerror(errno));
    if (count == 0)
      return failure(AXLE_IO,
                     "%s: cut short while it was in use, from %llu bytes to %llu; fetch it again",
                     path_.c_str(), wide(size_), wide(end_of(descriptor_)));
    at += static_cast<std::uint64_t>(count);
    to = to.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::string> read_text(const std::string& path, std::uint64_t most_bytes) {
  const Result<ModelFile> file = ModelFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (file->size() > most_bytes)
    return failure(AXLE_IO, "%s: %llu bytes are too many; at most %llu make sense", path.c_str(),
                   wide(file->size()), wide(most_bytes));
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  const Result<void> read = file->read(0, std::as_writable_bytes(std::span(text)));
  if (!read) return std::unexpected(read.error());
  return text;
}

}  // namespace axle::runtime
