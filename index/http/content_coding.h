#pragma once
// Bodies that a server sends compressed. Not left to libcurl: it takes a body whose compressed data
// ends early for a whole one, and a page that is cut between two links still looks like a page.

#include <cstdint>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::index {

/// What a request says that it can undo.
inline constexpr std::string_view accepted_codings = "gzip, deflate";

/// `body` as Content-Encoding `coding` (lower case; empty: none) says; `where` names it in errors.
/// Errors: malformed when the data is damaged, ends early or goes on after its end; unsupported for
/// another coding; io when it unpacks to more than `max_bytes`.
[[nodiscard]] Result<std::string> decode_body(std::string body, std::string_view coding,
                                              std::uint64_t max_bytes, const std::string& where);

}  // namespace axle::index
