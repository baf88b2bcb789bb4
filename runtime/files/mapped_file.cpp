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
  // Opening a pipe would wait for a writer. (fstat has another symbol version since glibc 2.33:
  // what is no regular file shows itself by what cannot be done with it.)
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return io_failure(path);
  char first = 0;
  if (pread(descriptor, &first, 1, 0) < 0) {
    const bool is_pipe = errno == ESPIPE;
    const std::unexpected<Failure> why =
        is_pipe ? failure(AXLE_IO, "%s: not a regular file", path.c_str()) : io_failure(path);
    close(descriptor);
    return why;
  }
  const off_t size = lseek(descriptor, 0, SEEK_END);
  if (size <= 0) {
    close(descriptor);
    return MappedFile();
  }
  void* const data =
      mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int problem = errno;
  close(descriptor);
  if (data == MAP_FAILED)
    return failure(problem == ENOMEM ? AXLE_NO_MEMORY : AXLE_IO,
                   "%s: its %lld bytes cannot be mapped into memory: %s", path.c_str(),
                   static_cast<long long>(size), std::strerror(problem));
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
