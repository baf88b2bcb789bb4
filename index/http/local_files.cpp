#include "index/http/local_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"
#include "index/http/url.h"
#include "index/pages/page_entry.h"

namespace axle::index {
namespace {

constexpr std::size_t chunk_bytes = 256U << 10;

std::unexpected<Error> system_failure(const std::string& path, int number) {
  const ErrorKind kind = number == ENOENT || number == ENOTDIR || number == EISDIR
                             ? ErrorKind::not_found
                             : ErrorKind::io;
  return fail(kind, fmt::format("cannot read {}: {}", path, std::strerror(number)));
}

/// The number of bytes at `offset` read into `room`; a file that is truncated meanwhile is an
/// error.
Result<std::size_t> read_at(const system::Descriptor& file, const std::string& path,
                            std::uint64_t offset, std::span<char> room) {
  ssize_t got = 0;
  do {
    got = ::pread(file.get(), room.data(), room.size(), static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return system_failure(path, errno);
  if (got == 0) return fail(ErrorKind::io, path + " was truncated while it was being read");
  return static_cast<std::size_t>(got);
}

Result<void> copy_out(const system::Descriptor& file, const std::string& path, ByteRange range,
                      const BodySink& sink) {
  std::vector<char> buffer(std::min<std::uint64_t>(range.length, chunk_bytes));
  while (range.length > 0) {
    const std::size_t wanted = std::min<std::uint64_t>(range.length, buffer.size());
    const auto got = read_at(file, path, range.offset, std::span(buffer).first(wanted));
    if (!got) return std::unexpected(got.error());
    if (Result<void> taken = sink(std::as_bytes(std::span(buffer).first(*got))); !taken) {
      return taken;
    }
    range.offset += *got;
    range.length -= *got;
  }
  return {};
}

/// Directly into the string, without filling it with zeros first: touching each page twice is the
/// larger half of the cost of reading a cached index page.
Result<std::string> read_part(const system::Descriptor& file, const std::string& path,
                              ByteRange range) {
  std::string text;
  Result<void> outcome;
  // GCC 12 passes the capacity instead of the size.
  text.resize_and_overwrite(range.length, [&](char* data, std::size_t /*room*/) {
    std::size_t filled = 0;
    while (filled < range.length) {
      const auto got = read_at(file, path, range.offset + filled,
                               std::span(data + filled, range.length - filled));
      if (!got) {
        outcome = std::unexpected(got.error());
        break;
      }
      filled += *got;
    }
    return filled;
  });
  if (!outcome) return std::unexpected(std::move(outcome.error()));
  return text;
}

std::string content_type_of(std::string_view path) {
  if (path.ends_with(".html") || path.ends_with(".htm")) return "text/html";
  if (path.ends_with(".json")) return "application/json";
  return "application/octet-stream";
}

}  // namespace

ByteRange wanted_part(const HttpRequest& request, std::uint64_t size) {
  if (request.tail) {
    const std::uint64_t length = std::min(*request.tail, size);
    return {size - length, length};
  }
  if (!request.range) return {0, size};
  const std::uint64_t offset = std::min(request.range->offset, size);
  return {offset, std::min(request.range->length, size - offset)};
}

Result<HttpResponse> answer_from_file(const HttpRequest& request, const BodySink* sink) {
  Result<std::string> path = file_path(request.url);
  if (!path) return std::unexpected(std::move(path.error()));
  HttpResponse response;
  response.url = without_fragment(request.url);
  const system::Descriptor file(
      ::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status = {};
  if (!file && errno != ENOENT && errno != ENOTDIR) return system_failure(*path, errno);
  if (file && ::fstat(file.get(), &status) != 0) return system_failure(*path, errno);
  if (!file || !S_ISREG(status.st_mode)) {
    response.status = 404;
    return response;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const ByteRange part = wanted_part(request, size);
  if (part.length > request.max_bytes) {
    return fail(ErrorKind::io, fmt::format("{} is larger than the {} bytes allowed here", *path,
                                           request.max_bytes));
  }
  response.status = request.range || request.tail ? 206 : 200;
  response.total_size = size;
  response.content_type = content_type_of(*path);
  if (sink != nullptr) {
    if (Result<void> copied = copy_out(file, *path, part, *sink); !copied) {
      return std::unexpected(std::move(copied.error()));
    }
    return response;
  }
  Result<std::string> body = read_part(file, *path, part);
  if (!body) return std::unexpected(std::move(body.error()));
  response.body = std::move(*body);
  return response;
}

Result<std::string> read_local_file(const std::string& path, std::uint64_t max_bytes) {
  HttpRequest request;
  request.url = file_url(path);
  request.max_bytes = max_bytes;
  Result<HttpResponse> response = answer_from_file(request, nullptr);
  if (!response) return std::unexpected(std::move(response.error()));
  if (response->status == 404) {
    const bool there = ::access(path.c_str(), F_OK) == 0;
    return fail(ErrorKind::not_found, (there ? "not a regular file: " : "no such file: ") + path);
  }
  return std::move(response->body);
}

Result<std::vector<PublishedFile>> list_folder(const std::string& folder) {
  std::error_code error;
  std::vector<PublishedFile> files;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    PublishedFile file;
    file.filename = entries->path().filename();
    if (!is_distribution_name(file.filename) || !is_sound_file_name(file.filename)) continue;
    std::error_code broken_link;
    if (!entries->is_regular_file(broken_link)) continue;
    file.size = entries->file_size(broken_link);
    if (broken_link) continue;
    file.url = file_url(entries->path().string());
    files.push_back(std::move(file));
  }
  if (error) return system_failure(folder, error.value());
  std::ranges::sort(files, {}, &PublishedFile::filename);
  return files;
}

Result<std::string> local_path(std::string_view location) {
  std::string path(location);
  if (is_file_url(location)) {
    Result<std::string> decoded = file_path(location);
    if (!decoded) return decoded;
    path = std::move(*decoded);
  } else if (path.find("://") != std::string::npos) {
    return fail(ErrorKind::malformed, fmt::format("{} is not a supported address", path),
                "use http://, https:// or file://, or the path of a folder");
  }
  std::error_code error;
  std::string absolute = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return fail(ErrorKind::io, fmt::format("cannot find {}: {}", path, error.message()));
  while (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
  return absolute;
}

}  // namespace axle::index
