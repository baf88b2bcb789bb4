#pragma once
// Files for which an index gives no hash: what came at the first download counts from then on, for
// its URL. Only http and https: a local file may be built again whenever its owner likes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "index/http/transport.h"

namespace axle::index {

/// What names the content of one download.
struct DownloadMark {
  std::string sha256;
  std::uint64_t size = 0;
  std::string etag;
};

/// The sha256 of the first download from `url`, if one was kept.
[[nodiscard]] std::optional<std::string> first_sha256(std::string_view url, Transport& transport);

/// Whether another content was kept as the first from `url`: also where `first_sha256` could not
/// read it a moment before, a first download is never forgotten for a second one. Error: io (what
/// was kept cannot be read now).
[[nodiscard]] Result<bool> contradicts_first(std::string_view url, const DownloadMark& mark,
                                             Transport& transport);

/// For after `contradicts_first`, which must have been able to tell. False when nothing is kept: no
/// cache, or not http(s).
[[nodiscard]] bool keep_first_download(std::string_view url, const DownloadMark& mark,
                                       Transport& transport);

/// Whether the server gives another size or ETag for `url` than at the first download: the file is
/// then to be downloaded again and compared. Takes one small request; a server that cannot be asked
/// says nothing against the file.
[[nodiscard]] bool seems_changed(const std::string& url, Transport& transport);

}  // namespace axle::index
