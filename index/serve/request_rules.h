#pragma once
// How a server of an index reads a request: its path, what is accepted, which part is wanted. Text
// in, values out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace axle::index {

/// The components of a request's path, decoded: "/simple/demo/" is {"simple", "demo", ""}. Nullopt:
/// it is none, or a component is no name of a file or begins with a dot.
[[nodiscard]] std::optional<std::vector<std::string>> parse_request_path(std::string_view path);

enum class PageForm : std::uint8_t { json, html };

/// PEP 691, "Version + Format Selection". `type`: what the answer is called.
struct NegotiatedForm {
  PageForm form;
  std::string_view type;
};
/// Nullopt: nothing that there is.
[[nodiscard]] std::optional<NegotiatedForm> negotiate_form(std::string_view accept);

enum class WantedRange : std::uint8_t { all, part, none_of_it };
struct RequestedRange {
  WantedRange wanted = WantedRange::all;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
/// One range in bytes, clipped to `size`. Others are disregarded, as a server may (RFC 9110, 14.2).
[[nodiscard]] RequestedRange parse_range(std::string_view range, std::uint64_t size);

/// Whether If-None-Match names `etag` (weakly, RFC 9110, 13.1.2).
[[nodiscard]] bool names_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace axle::index
