#include "installer/download.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "installer/descriptor.h"
#include "wheel/sha256.h"

namespace axle::installer {
namespace {

constexpr std::string_view mend =
    "the file was altered or the index is wrong: nothing of it was installed";

std::unexpected<Error> size_mismatch(const resolver::ResolvedPackage& package,
                                     std::uint64_t found) {
  return fail(ErrorKind::mismatch,
              fmt::format("{} has {} bytes{}, but {} gives its size as {}", package.filename, found,
                          found > *package.size ? " or more" : "", package.source, *package.size),
              std::string(mend));
}

Result<std::string> checked_hash(const resolver::ResolvedPackage& package, wheel::Sha256& hash) {
  std::string digest = wheel::render_hex(hash.finish());
  if (!package.sha256.empty() && digest != package.sha256) {
    return fail(ErrorKind::mismatch,
                fmt::format("{} has the sha256 {}, but {} gives {}", package.filename, digest,
                            package.source, package.sha256),
                std::string(mend));
  }
  return digest;
}

}  // namespace

Result<std::string> download_wheel(const resolver::ResolvedPackage& package,
                                   index::Transport& transport, const std::string& path,
                                   Report& report) {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return std::unexpected(system_error("create", path, errno));
  index::Request request;
  request.url = package.url;
  request.max_bytes = 64ULL << 30;  // a given size is enforced below, with a word about whose it is
  wheel::Sha256 hash;
  std::uint64_t done = 0;
  auto response =
      transport.download(request, [&](std::span<const std::byte> bytes) -> Result<void> {
        done += bytes.size();
        if (package.size && done > *package.size) return size_mismatch(package, done);
        hash.update(bytes);
        report.progress("downloading " + package.filename, done, package.size.value_or(0));
        return write_all(file.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                         path);
      });
  if (!response) return std::unexpected(response.error());
  if (response->status != 200) {
    return fail(response->status == 404 ? ErrorKind::not_found : ErrorKind::io,
                fmt::format("{} answers {} for {}", package.source, response->status,
                            index::redact_url(package.url)),
                "the index lists a file that it does not give out: try again, or another index");
  }
  if (package.size && done != *package.size) return size_mismatch(package, done);
  return checked_hash(package, hash);
}

Result<std::string> hash_wheel(const resolver::ResolvedPackage& package, wheel::ByteSource& source,
                               Report& report) {
  const std::uint64_t total = source.size();
  if (package.size && total != *package.size) return size_mismatch(package, total);
  wheel::Sha256 hash;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(total, 1U << 20));
  for (std::uint64_t done = 0; done < total;) {
    const std::span<std::byte> part =
        std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), total - done));
    if (auto got = source.read(done, part); !got) return std::unexpected(got.error());
    hash.update(part);
    done += part.size();
    report.progress("reading " + package.filename, done, total);
  }
  return checked_hash(package, hash);
}

}  // namespace axle::installer
