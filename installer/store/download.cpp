#include "installer/store/download.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "index/http/redaction.h"
#include "installer/file_access.h"
#include "wheel/hash/blake2b.h"
#include "wheel/hash/named_hash.h"
#include "wheel/hash/sha256.h"

namespace axle::installer {
namespace {

/// Bytes between two states of the hash that are noted.
constexpr std::uint64_t hash_distance = 256U << 10;

constexpr std::string_view hint =
    "the file was altered or the index is wrong: it was not installed";

std::unexpected<Error> size_mismatch(const plan::ResolvedPackage& package, std::uint64_t found) {
  return fail(ErrorKind::mismatch,
              fmt::format("{} has {} bytes{}, but {} gives its size as {}", package.filename, found,
                          found > *package.size ? " or more" : "", package.source, *package.size),
              std::string(hint));
}

/// The digests that are compared with the listed hashes, except sha256.
class ListedDigests {
 public:
  explicit ListedDigests(const std::vector<wheel::ListedHash>& listed) {
    for (const wheel::ListedHash& hash : listed) {
      if (hash.algorithm == "blake2b" && !blake2b_) blake2b_.emplace();
      if (hash.algorithm == "sha256" || hash.algorithm == "blake2b") continue;
      if (!named_.contains(hash.algorithm))
        named_.emplace(hash.algorithm, wheel::NamedHash(hash.algorithm));
    }
  }

  void update(std::span<const std::byte> bytes) {
    if (blake2b_) blake2b_->update(bytes);
    for (auto& [algorithm, hash] : named_) hash.update(bytes);
  }

  std::vector<wheel::ListedHash> finish() {
    std::vector<wheel::ListedHash> digests;
    if (blake2b_) digests.push_back({"blake2b", blake2b_->finish()});
    for (auto& [algorithm, hash] : named_) digests.push_back({algorithm, hash.finish()});
    return digests;
  }

 private:
  std::optional<wheel::Blake2b256> blake2b_;
  std::map<std::string, wheel::NamedHash> named_;
};

/// Hashes the bytes of a file as they arrive: sha256, the hash that the index gives instead, and
/// the listed ones.
class FileHash {
 public:
  FileHash(const plan::ResolvedPackage& package, Report& report, const DownloadPart* part = nullptr)
      : package_(package), report_(report), part_(part), listed_(package.listed_hashes) {
    if (part != nullptr && part->from.bytes != 0) {
      sha256_ = wheel::Sha256(part->from);
      taken_ = part->from.bytes;
    }
    const wheel::ExpectedHash& hash = package.hash;
    if (hash.empty() || !hash.sha256().empty()) return;
    if (hash.is_checkable()) {
      other_.emplace(hash.algorithm);
    } else {
      report.warn(fmt::format("{} gives only a {} hash for {}, which cannot be checked",
                              package.source, hash.algorithm, package.filename));
    }
  }

  void update(std::span<const std::byte> bytes) {
    update_sha256(bytes);
    if (other_) other_->update(bytes);
    listed_.update(bytes);
  }

  /// The sha256. Error: mismatch.
  Result<std::string> finish() {
    std::string digest = wheel::render_hex(sha256_.finish());
    if (auto listed = check_listed(digest); !listed) return std::unexpected(listed.error());
    const wheel::ExpectedHash& expected = package_.hash;
    if (!expected.sha256().empty() && digest != expected.digits) return differs(digest);
    if (!other_) return digest;
    const std::string found = other_->finish();
    if (found.empty()) {
      report_.warn(fmt::format("the {} of {} cannot be checked here", expected.algorithm,
                               package_.filename));
      return digest;
    }
    if (found != expected.digits) return differs(found);
    return digest;
  }

 private:
  void update_sha256(std::span<const std::byte> bytes) {
    while (part_ != nullptr && bytes.size() >= hash_distance - taken_ % hash_distance) {
      const std::size_t some = hash_distance - taken_ % hash_distance;
      sha256_.update(bytes.first(some));
      bytes = bytes.subspan(some);
      taken_ += some;
      part_->note_hash(sha256_.midpoint());
    }
    sha256_.update(bytes);
    taken_ += bytes.size();
  }

  Result<void> check_listed(const std::string& sha256) {
    if (package_.listed_hashes.empty()) return {};
    std::vector<wheel::ListedHash> found = listed_.finish();
    found.insert(found.begin(), {"sha256", sha256});
    const bool listed = std::ranges::any_of(found, [&](const wheel::ListedHash& hash) {
      return std::ranges::find(package_.listed_hashes, hash) != package_.listed_hashes.end();
    });
    if (listed) return {};
    return fail(ErrorKind::mismatch,
                fmt::format("{} does not match the hashes listed for {}: expected {}, got {}",
                            package_.filename, package_.name,
                            wheel::render_listed_hashes(package_.listed_hashes),
                            wheel::render_listed_hashes(found)),
                "if its publisher replaced the file, list its new hash; if not, it was altered: "
                "nothing was installed");
  }

  std::unexpected<Error> differs(std::string_view found) const {
    const auto& [algorithm, given, source, beside] = package_.hash;
    if (source == wheel::HashSource::first_download) {
      return fail(
          ErrorKind::mismatch,
          fmt::format("{} has the sha256 {}, but its first download had {} ({} gives no hash for "
                      "it, so the first one counts)",
                      package_.filename, found, given, package_.source),
          "if its publisher replaced the file, use --no-cache to accept the new one, or remove the "
          "cache to forget the first download; if not, it was altered: it was not installed");
    }
    if (source == wheel::HashSource::attestation) {
      return fail(ErrorKind::mismatch,
                  fmt::format("{} has the sha256 {}, but it is attested with {}", package_.filename,
                              found, given),
                  "it is not the file that its publisher made: it was not installed");
    }
    return fail(ErrorKind::mismatch,
                fmt::format("{} has the {} {}, but {} gives {}", package_.filename, algorithm,
                            found, package_.source, given),
                package_.direct
                    ? "the file was altered or the hash in the URL is wrong: it was not installed"
                    : std::string(hint));
  }

  const plan::ResolvedPackage& package_;
  Report& report_;
  const DownloadPart* part_;
  std::uint64_t taken_ = 0;
  wheel::Sha256 sha256_;
  std::optional<wheel::NamedHash> other_;
  ListedDigests listed_;
};

/// `done`: the bytes that are here, also where it fails.
Result<index::DownloadMark> receive(const plan::ResolvedPackage& package,
                                    index::Transport& transport, const index::BodySink& sink,
                                    Report& report, const std::stop_token& stop,
                                    const DownloadPart* part, std::uint64_t& done) {
  index::HttpRequest request;
  request.url = package.url;
  request.max_bytes = 64ULL << 30;  // a given size is checked below, with its source in the message
  const bool continues = done != 0;
  if (continues) request.range = {done, part->size - done};
  FileHash hash(package, report, part);
  auto response =
      transport.download(request, [&](std::span<const std::byte> bytes) -> Result<void> {
        if (stop.stop_requested()) return fail(ErrorKind::io, package.filename + ": not needed");
        done += bytes.size();
        if (package.size && done > *package.size) return size_mismatch(package, done);
        hash.update(bytes);
        report.download(
            {Download::Stage::goes_on, package.filename, done, package.size.value_or(0)});
        return sink(bytes);
      });
  if (!response) return std::unexpected(response.error());
  if (continues && response->status != 404 && response->status < 500 &&
      (response->status != 206 || response->total_size.value_or(part->size) != part->size)) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} gives no rest of {}", package.source, package.filename));
  }
  if (response->status != (continues ? 206 : 200)) {
    return fail(response->status == 404 ? ErrorKind::not_found : ErrorKind::io,
                fmt::format("{} returned {} for {}", package.source, response->status,
                            index::redact_url(package.url)),
                "the index lists a file that it does not serve: try again, or use another index");
  }
  if (package.size && done != *package.size) return size_mismatch(package, done);
  auto sha256 = hash.finish();
  if (!sha256) return std::unexpected(std::move(sha256.error()));
  return index::DownloadMark{std::move(*sha256), done, std::move(response->etag)};
}

}  // namespace

Result<index::DownloadMark> download(const plan::ResolvedPackage& package,
                                     index::Transport& transport, const index::BodySink& sink,
                                     Report& report, const std::stop_token& stop,
                                     const DownloadPart* part) {
  const std::uint64_t total = package.size.value_or(0);
  std::uint64_t done = part == nullptr ? 0 : part->from.bytes;
  report.download({Download::Stage::begins, package.filename, done, total});
  auto received = receive(package, transport, sink, report, stop, part, done);
  report.download({received ? Download::Stage::ended : Download::Stage::failed, package.filename,
                   done, received ? done : total});
  return received;
}

Result<index::DownloadMark> download_file(const plan::ResolvedPackage& package,
                                          index::Transport& transport, const std::string& path,
                                          Report& report, const std::stop_token& stop) {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return std::unexpected(system_error("create", path, errno));
  const auto write = [&](std::span<const std::byte> bytes) {
    return write_all(file.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  };
  return download(package, transport, write, report, stop);
}

Result<std::string> hash_wheel(const plan::ResolvedPackage& package, wheel::ByteSource& source,
                               Report& report) {
  const std::uint64_t total = source.size();
  if (package.size && total != *package.size) return size_mismatch(package, total);
  FileHash hash(package, report);
  std::vector<std::byte> buffer(std::min<std::uint64_t>(total, 1U << 20));
  for (std::uint64_t done = 0; done < total;) {
    const std::span<std::byte> part =
        std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), total - done));
    if (auto got = source.read(done, part); !got) return std::unexpected(got.error());
    hash.update(part);
    done += part.size();
    report.progress({"reading " + package.filename, done, total, true});
  }
  return hash.finish();
}

bool may_continue(const plan::ResolvedPackage& package) {
  return !package.hash.sha256().empty() &&
         std::ranges::all_of(package.listed_hashes, [](const wheel::ListedHash& hash) {
           return hash.algorithm == "sha256";
         });
}

bool is_first_download(const plan::ResolvedPackage& package) {
  return package.hash.source == wheel::HashSource::first_download;
}

Result<void> remember_download(const plan::ResolvedPackage& package,
                               const index::DownloadMark& mark, index::Transport& transport,
                               Report& report) {
  const bool checked = package.hash.is_checkable() && !is_first_download(package);
  if (package.direct || checked || !package.listed_hashes.empty()) return {};
  const auto contradicts = index::contradicts_first(package.url, mark, transport);
  if (!contradicts) {
    // Nothing is stored in its place: it may be intact, and readable the next time.
    if (!is_first_download(package))
      report.warn(fmt::format("{} is not compared with its first download, and the index gives no "
                              "hash: {}",
                              package.filename, contradicts.error().message),
                  "if this persists, choose another cache with --cache-dir");
    return {};
  }
  if (*contradicts) {
    return fail(
        ErrorKind::mismatch,
        fmt::format("{}: not the file that was first downloaded from this URL", package.filename),
        "the index gives no hash: ask its operator, or use a new cache with --cache-dir");
  }
  if (index::keep_first_download(package.url, mark, transport) && !is_first_download(package)) {
    report.note(fmt::format(
        "the index gives no hash for {}; its sha256 is stored, to detect a change the next time",
        package.filename));
  }
  return {};
}

}  // namespace axle::installer
