#include "session/projects/wheel_hashes.h"

#include <cstddef>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "index/http/first_download.h"
#include "index/http/url.h"
#include "installer/store/download.h"
#include "wheel/hash/expected_hash.h"
#include "wheel/zip/zip_reader.h"

namespace axle::session {

Result<void> WheelHashes::complete(plan::Resolution& resolution) {
  for (plan::ResolvedPackage& package : resolution.packages) {
    if (package.built_from) continue;
    if (!package.hash.sha256().empty()) {
      // Of a first download the lock says as much as when it was made.
      if (!package.size && installer::is_first_download(package))
        package.size = index::first_size(package.url, transport_);
      continue;
    }
    const auto [known, is_new] = known_.try_emplace(package.url);
    if (is_new) {
      auto content = read(package);
      if (!content) return std::unexpected(std::move(content).error());
      known->second = *std::move(content);
    }
    package.hash = wheel::expected_sha256(known->second.sha256);
    package.size = known->second.size;
  }
  return {};
}

Result<WheelHashes::Content> WheelHashes::read(const plan::ResolvedPackage& package) {
  if (package.url.starts_with("file:")) {
    const auto path = index::file_path(package.url);
    if (!path) return std::unexpected(path.error());
    const auto source = wheel::open_file_source(*path);
    if (!source) return std::unexpected(source.error());
    auto sha256 = installer::hash_wheel(package, **source, report_);
    if (!sha256) return std::unexpected(std::move(sha256).error());
    return Content{*std::move(sha256), (*source)->size()};
  }
  report_.note(fmt::format("{} gives no sha256 for {}: it is downloaded, since a lock needs one",
                           package.source, package.filename));
  const auto ignore = [](std::span<const std::byte>) -> Result<void> { return {}; };
  auto mark = installer::download(package, transport_, ignore, report_);
  if (!mark) return std::unexpected(std::move(mark).error());
  if (auto kept = installer::remember_download(package, *mark, transport_, report_); !kept)
    return std::unexpected(std::move(kept).error());
  return Content{std::move(mark->sha256), mark->size};
}

}  // namespace axle::session
