#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wheel/zip/zip_reader.h"

namespace axle::wheel {
namespace {

std::string describe_errno(int number) { return std::generic_category().message(number); }

class FileSource final : public ByteSource {
 public:
  FileSource(int descriptor, std::uint64_t size, std::string path)
      : descriptor_(descriptor), size_(size), path_(std::move(path)) {}
  ~FileSource() override { ::close(descriptor_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    while (!out.empty()) {
      const ssize_t count =
          ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        return fail(ErrorKind::io, fmt::format("cannot read {}: {}", path_, describe_errno(errno)));
      }
      if (count == 0) {
        return fail(ErrorKind::io, fmt::format("{} was truncated while it was being read", path_));
      }
      offset += static_cast<std::uint64_t>(count);
      out = out.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }

 private:
  int descriptor_;
  std::uint64_t size_;
  std::string path_;
};

template <class Bytes>
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(Bytes bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }

  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
      return fail(ErrorKind::io, "read beyond the end of the bytes in memory");
    }
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return {};
  }

 private:
  Bytes bytes_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file_source(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const ErrorKind kind = errno == ENOENT ? ErrorKind::not_found : ErrorKind::io;
    return fail(kind, fmt::format("cannot open {}: {}", path, describe_errno(errno)));
  }
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return fail(ErrorKind::io, fmt::format("{} is not a regular file", path));
  }
  return std::make_unique<FileSource>(descriptor, static_cast<std::uint64_t>(status.st_size), path);
}

std::unique_ptr<ByteSource> memory_source(std::string_view bytes) {
  return std::make_unique<MemorySource<std::string_view>>(bytes);
}

std::unique_ptr<ByteSource> kept_source(std::string bytes) {
  return std::make_unique<MemorySource<std::string>>(std::move(bytes));
}

}  // namespace axle::wheel
