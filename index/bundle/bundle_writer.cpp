#include "index/bundle/bundle_writer.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"
#include "foundation/system/parallel.h"
#include "wheel/hash/sha256.h"
#include "wheel/zip/stored_zip.h"
#include "wheel/zip/zip_reader.h"

namespace axle::index {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t at_once_bytes = 1U << 20;

std::unexpected<Error> cannot(std::string_view what, const std::string& path,
                              const std::error_code& error) {
  return fail(ErrorKind::io, fmt::format("cannot {} {}: {}", what, path, error.message()),
              error == std::errc::no_space_on_device ? "free disk space"
                                                     : "check the path and its permissions");
}

Result<void> read_file(const std::string& path, const wheel::ZipSink& sink) {
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(std::move(source).error());
  std::string buffer(std::min<std::uint64_t>((*source)->size(), at_once_bytes), '\0');
  for (std::uint64_t at = 0; at < (*source)->size(); at += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>((*source)->size() - at, buffer.size()));
    if (auto read = (*source)->read(at, std::as_writable_bytes(std::span(buffer))); !read)
      return read;
    if (auto taken = sink(buffer); !taken) return taken;
  }
  return {};
}

/// A file that is in memory.
wheel::StoredMember member_of(std::string_view path, const std::string& text) {
  return {std::string(path), text.size(), wheel::continue_crc32(0, std::as_bytes(std::span(text))),
          [&text](const wheel::ZipSink& sink) { return sink(text); }};
}

}  // namespace

Result<BundleWriter> BundleWriter::open(const std::string& folder) {
  BundleWriter writer(folder);
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_regular_file(error))
      writer.members_.push_back({it->path().lexically_relative(folder).string(), {}, 0});
  }
  if (error) return cannot("read", folder, error);
  std::ranges::sort(writer.members_, {}, &wheel::BundleMember::path);
  writer.checksums_.resize(writer.members_.size());
  std::mutex mutex;  // protects the error
  std::optional<Error> first;
  system::for_each_at_once(writer.members_.size(), system::usable_processors(), [&](std::size_t i) {
    wheel::BundleMember& member = writer.members_[i];
    wheel::Sha256 hash;
    auto read = read_file(folder + "/" + member.path, [&](std::string_view bytes) {
      hash.update(std::as_bytes(std::span(bytes)));
      writer.checksums_[i] =
          wheel::continue_crc32(writer.checksums_[i], std::as_bytes(std::span(bytes)));
      member.size += bytes.size();
      return Result<void>();
    });
    member.sha256 = wheel::render_hex(hash.finish());
    const std::lock_guard lock(mutex);
    if (!read && !first) first = std::move(read).error();
  });
  if (first) return std::unexpected(std::move(*first));
  if (auto readable = wheel::parse_bundle_list(writer.list(), folder); !readable)
    return std::unexpected(std::move(readable).error());
  return writer;
}

Result<std::uint64_t> BundleWriter::write(const std::string& path,
                                          const std::string& signature) const {
  system::Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file) return cannot("create", path, system::last_error());
  const std::string text = list();
  std::vector<wheel::StoredMember> members = {member_of(wheel::bundle_list_name, text)};
  if (!signature.empty()) members.push_back(member_of(wheel::bundle_signature_name, signature));
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members.push_back({members_[i].path, members_[i].size, checksums_[i],
                       [place = folder_ + "/" + members_[i].path](const wheel::ZipSink& sink) {
                         return read_file(place, sink);
                       }});
  }
  std::uint64_t size = 0;
  auto written = wheel::write_stored_zip(members, [&](std::string_view bytes) -> Result<void> {
    size += bytes.size();
    if (const std::error_code error = system::write_all(file.get(), bytes))
      return cannot("write", path, error);
    return {};
  });
  if (!written) return std::unexpected(std::move(written).error());
  if (::fsync(file.get()) != 0) return cannot("write", path, system::last_error());
  if (const std::error_code error = file.close()) return cannot("write", path, error);
  return size;
}

}  // namespace axle::index
