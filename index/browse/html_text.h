#pragma once
// Text of an index, which anybody may have written, as HTML for people.

#include <string>
#include <string_view>

namespace axle::index {

/// For an element or a quoted attribute. Characters that reverse, hide or join text become visible.
[[nodiscard]] std::string html_text(std::string_view text);

/// For a shell, as an element's text: quoted if a shell could read it otherwise.
[[nodiscard]] std::string html_word(std::string_view word);

/// JSON for a script element that is only data.
[[nodiscard]] std::string html_data(std::string_view json);

/// An absolute address that a reader may follow: https, http or file. Others could be code.
[[nodiscard]] bool is_followed(std::string_view url);

}  // namespace axle::index
