#pragma once
// Removes the secrets in URLs from texts for display and files. Mistyped URLs are covered as well:
// those are what people copy into a report.

#include <string>
#include <string_view>

namespace axle::index {

/// Any text for display and files: each URL in it, well-formed or mistyped, without user name and
/// password, and with *** for the values of its query.
[[nodiscard]] std::string redact_url(std::string_view text);

}  // namespace axle::index
