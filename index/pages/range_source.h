#pragma once
// A published file as a ByteSource over HTTP ranges.

#include <cstdint>
#include <memory>
#include <string>

#include "foundation/report/error.h"
#include "index/http/transport.h"
#include "wheel/zip/zip_reader.h"

namespace axle::index {

/// Asks for the file's tail (65 KiB) at once, of servers that only know ranges from the beginning
/// by its offset; reads outside it fetch a block around what is wanted
/// and keep it. nullptr when the server does not do ranges. Errors: not_found, io; unsupported when
/// it lies; mismatch when the file changes meanwhile.
[[nodiscard]] Result<std::unique_ptr<wheel::ByteSource>> open_ranges(const std::string& url,
                                                                     Transport& transport);

}  // namespace axle::index
