#include "foundation/elf/elf_bytes.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace axle::elf {

std::string_view describe(ReadError error) {
  switch (error) {
    case ReadError::not_elf:
      return "is not an ELF file";
    case ReadError::other_format:
      return "only 64-bit little-endian ELF files are supported";
    case ReadError::outside:
      return "the ELF file refers to data outside of it";
    case ReadError::unreadable:
      return "cannot be read";
  }
  return {};
}

std::expected<std::string, ReadError> Bytes::range(std::uint64_t offset, std::uint64_t size) {
  if (size > largest_range_ || !contains(offset, size)) return std::unexpected(ReadError::outside);
  std::string bytes(size, '\0');
  if (!read(offset, std::as_writable_bytes(std::span(bytes.data(), bytes.size()))))
    return std::unexpected(ReadError::unreadable);
  return bytes;
}

bool Bytes::contains(std::uint64_t offset, std::uint64_t size) const {
  return offset <= this->size() && this->size() - offset >= size;
}

bool MemoryBytes::read(std::uint64_t offset, std::span<std::byte> out) {
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return true;
}

FileBytes::FileBytes(const std::string& path, std::uint64_t largest_range)
    : Bytes(largest_range),
      file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  struct stat status{};
  if (file_ >= 0 && ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode))
    size_ = static_cast<std::uint64_t>(status.st_size);
}

FileBytes::~FileBytes() {
  if (file_ >= 0) ::close(file_);
}

bool FileBytes::read(std::uint64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(file_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace axle::elf
