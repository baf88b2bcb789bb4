#include "runtime/files/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace axle::runtime {
namespace {

std::unexpected<Failure> io_failure(const std::string& path) {
  return failure(AXLE_IO, "%s: %s", path.c_str(), std::strerror(errno));
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // A pipe would block here, and a folder cannot be mapped: both are said, not waited for.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return io_failure(path);
  const off_t size = lseek(descriptor, 0, SEEK_END);
  if (size <= 0) {
    const bool unseekable = size < 0;
    close(descriptor);
    if (unseekable) return failure(AXLE_IO, "%s: not a regular file", path.c_str());
    return MappedFile(nullptr, 0);
  }
  void* const data =
      mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int problem = errno;
  close(descriptor);
  if (data == MAP_FAILED) {
    errno = problem;
    return io_failure(path);
  }
  return MappedFile(static_cast<const std::byte*>(data), static_cast<std::size_t>(size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace axle::runtime
