#pragma once
// Files for which an index gives no hash: the content of the first download is authoritative for
// its URL. Only http and https: a local file may be rebuilt at any time.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "index/http/transport.h"

namespace axle::index {

/// Identifies the content of one download.
struct DownloadMark {
  std::string sha256;
  std::uint64_t size = 0;
  std::string etag;
};

/// The sha256 of the first download from `url`, if it was stored.
[[nodiscard]] std::optional<std::string> first_sha256(std::string_view url, Transport& transport);

/// Its size, as of then.
[[nodiscard]] std::optional<std::uint64_t> first_size(std::string_view url, Transport& transport);

/// Whether different content was stored as the first from `url`: even if `first_sha256` could not
/// read it just before, a first download is never replaced by a second one. Error: io (the stored
/// data cannot be read now).
[[nodiscard]] Result<bool> contradicts_first(std::string_view url, const DownloadMark& mark,
                                             Transport& transport);

/// To be called after a successful `contradicts_first`. False if nothing is stored: no cache, or
/// not http(s).
[[nodiscard]] bool keep_first_download(std::string_view url, const DownloadMark& mark,
                                       Transport& transport);

/// Whether the server gives another size or ETag for `url` than at the first download: the file has
/// to be downloaded again and compared then. Makes one small request; a server that does not answer
/// counts as unchanged.
[[nodiscard]] bool seems_changed(const std::string& url, Transport& transport);

}  // namespace axle::index
