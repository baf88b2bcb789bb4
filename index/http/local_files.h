#pragma once
// Files and folders of this machine as an index: what file:// URLs and folder locations mean.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/http/transport.h"
#include "index/pages/page.h"

namespace axle::index {

/// Answers a request for a file URL: 200, 206 or 404 (no such file, or a folder). Errors: io,
/// malformed. `sink` nullptr: the body is collected in the response.
[[nodiscard]] Result<HttpResponse> answer_from_file(const HttpRequest& request,
                                                    const BodySink* sink);

/// The part of a file of `size` bytes that was requested, clipped to it.
[[nodiscard]] ByteRange wanted_part(const HttpRequest& request, std::uint64_t size);

/// The whole file. Errors: not_found, io (also when longer than `max_bytes`).
[[nodiscard]] Result<std::string> read_local_file(const std::string& path, std::uint64_t max_bytes);

/// The distributions (is_distribution_name) directly in `folder`, sorted by name, without hashes.
/// Errors: not_found, io.
[[nodiscard]] Result<std::vector<PublishedFile>> list_folder(const std::string& folder);

/// The folder of `location` (a path or a file URL), absolute, without a trailing slash.
[[nodiscard]] Result<std::string> local_path(std::string_view location);

}  // namespace axle::index
