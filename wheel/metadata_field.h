#pragma once
// The header lines of METADATA (RFC 822 as Python's email package reads it), one at a time.

#include <cstddef>
#include <optional>
#include <string_view>

namespace axle::wheel {

/// Length of the first line of `text` with its end: a line feed, a carriage return, or both.
[[nodiscard]] std::size_t line_length(std::string_view text);

struct MetadataField {
  std::string_view name;
  std::string_view value;  ///< all behind the colon, blanks included
};

/// `line` without its end. nullopt: it is not a header, so that it and the rest are the
/// description.
[[nodiscard]] std::optional<MetadataField> split_field(std::string_view line);

/// A line that goes on with the field before it, if there is one.
[[nodiscard]] bool continues_field(std::string_view line);

/// Names of fields are equal whatever their case.
[[nodiscard]] bool same_field(std::string_view left, std::string_view right);

}  // namespace axle::wheel
