#pragma once
// A published file as a ByteSource over HTTP ranges.

#include <cstdint>
#include <memory>
#include <string>

#include "foundation/report/error.h"
#include "index/http/transport.h"
#include "wheel/zip/zip_reader.h"

namespace axle::index {

/// Requests the file's tail (65 KiB) first, by its offset from servers that only support ranges
/// from the beginning; reads outside of it fetch and cache a block around the requested bytes.
/// nullptr if the server does not support ranges. Errors: not_found, io; unsupported if its answers
/// are wrong; mismatch if the file changes meanwhile.
[[nodiscard]] Result<std::unique_ptr<wheel::ByteSource>> open_ranges(const std::string& url,
                                                                     Transport& transport);

/// A hint: `open_ranges` will probably be called for `url`. Sent ahead where the server is known to
/// support ranges.
void prefetch_ranges(const std::string& url, Transport& transport);

}  // namespace axle::index
