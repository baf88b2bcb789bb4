#pragma once
// The text of a Jinja template in one form, so that templates that say the same are the same text.

#include <string>
#include <string_view>

namespace axle::runtime {

/// Without comments, marks of trimming and what they trim, and white space in blocks outside of
/// strings; strings in single quotes with their escapes resolved; `message.role` as
/// `message['role']`, and so for "content". What is not Jinja comes out as something that is not,
/// either.
[[nodiscard]] std::string canonical_jinja(std::string_view text);

}  // namespace axle::runtime
