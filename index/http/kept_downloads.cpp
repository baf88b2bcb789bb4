#include "index/http/kept_downloads.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/http/redaction.h"

namespace axle::index {
namespace {

/// Each takes a descriptor, of which a process has 1,024.
constexpr std::size_t most_kept = 256;

Result<void> give(int file, std::uint64_t size, const std::string& url, const BodySink& sink) {
  std::array<std::byte, std::size_t{64} << 10> part{};
  for (std::uint64_t done = 0; done < size;) {
    const ssize_t got = ::pread(file, part.data(), part.size(), static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return fail(ErrorKind::io, fmt::format("cannot read the temporary copy of {}: {}",
                                             redact_url(url), std::strerror(errno)));
    }
    if (auto taken = sink(std::span(part).first(static_cast<std::size_t>(got))); !taken)
      return taken;
    done += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace

KeptDownloads::~KeptDownloads() {
  for (const Kept& one : kept_) ::close(one.file);
}

void KeptDownloads::keep(const std::string& url, const HttpResponse& response, int file) {
  const int own = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return;
  const std::lock_guard guard(lock_);
  kept_.push_back({url, response, own});
  if (kept_.size() <= most_kept) return;
  ::close(kept_.front().file);
  kept_.pop_front();
}

std::optional<Result<HttpResponse>> KeptDownloads::hand_over(const HttpRequest& request,
                                                             const BodySink& sink) {
  Kept taken;
  {
    const std::lock_guard guard(lock_);
    const auto found = std::ranges::find(kept_, request.url, &Kept::url);
    if (found == kept_.end()) return std::nullopt;
    taken = std::move(*found);
    kept_.erase(found);
  }
  struct stat status = {};
  const bool is_whole = ::fstat(taken.file, &status) == 0 && status.st_size >= 0 &&
                        static_cast<std::uint64_t>(status.st_size) <= request.max_bytes;
  std::optional<Result<HttpResponse>> answer;
  if (is_whole) {
    const auto given =
        give(taken.file, static_cast<std::uint64_t>(status.st_size), request.url, sink);
    answer.emplace(given ? Result<HttpResponse>(std::move(taken.response))
                         : Result<HttpResponse>(std::unexpected(given.error())));
  }
  ::close(taken.file);
  return answer;
}

}  // namespace axle::index
