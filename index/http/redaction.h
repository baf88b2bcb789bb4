#pragma once
// Texts for people and files without the secrets that stand in URLs. What was mistyped is hidden as
// well: that is when people copy a message into a report.

#include <string>
#include <string_view>

namespace axle::index {

/// Any text for people and files: each URL in it, well-formed or mistyped, without user name and
/// password, and with *** for the values of its query.
[[nodiscard]] std::string redact_url(std::string_view text);

}  // namespace axle::index
