#pragma once
// Text in the files of CI systems: whatever it is, it stays a text.

#include <string>
#include <string_view>

namespace axle::builder {

/// One line, not empty, that every reader sees as one: UTF-8 without control characters and without
/// what YAML 1.1 takes for the end of a line. All that is written is such a text.
[[nodiscard]] bool is_plain_line(std::string_view text);

/// A double-quoted scalar, the same in YAML 1.1 and 1.2.
[[nodiscard]] std::string yaml_text(std::string_view text);

/// The same, where GitHub evaluates expressions: none of the text's is one.
[[nodiscard]] std::string github_text(std::string_view text);

/// The same as a value of a variable, which GitLab expands: nothing of the text is expanded.
[[nodiscard]] std::string gitlab_value(std::string_view text);

/// Of a recipe: what make would expand is doubled.
[[nodiscard]] std::string make_text(std::string_view text);

/// In a comment.
[[nodiscard]] std::string comment_text(std::string_view text);

}  // namespace axle::builder
