#pragma once
// Text as HTML and XML.

#include <string>
#include <string_view>

namespace axle::text {

/// For an element or a quoted attribute: &, <, > and both quotation marks as references.
[[nodiscard]] std::string escape_html(std::string_view text);

}  // namespace axle::text
