#pragma once
// Decodes compressed response bodies. Not done by libcurl: it accepts a body whose compressed data
// ends early, and a page that is truncated between two links still looks like a page.

#include <cstdint>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::index {

/// The codings that requests accept.
inline constexpr std::string_view accepted_codings = "gzip, deflate";

/// Decodes `body` with Content-Encoding `coding` (lower case; empty: none); `where` names it in
/// errors. Errors: malformed if the data is damaged, ends early or continues after its end;
/// unsupported for another coding; io if it unpacks to more than `max_bytes`.
[[nodiscard]] Result<std::string> decode_body(std::string_view body, std::string_view coding,
                                              std::uint64_t max_bytes, const std::string& where);

}  // namespace axle::index
