#pragma once
// A small JSON document as a tree. Keys keep their order, a duplicate key is malformed, and depth
// and number of values are bounded, unlike in the JSON library's own values.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::documents {

struct JsonNode {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  std::string key;                     ///< of a member of an object
  std::string text;                    ///< of a string
  std::optional<std::uint64_t> whole;  ///< of a number that is whole and not negative
  std::vector<JsonNode> items;  ///< of an array, or the members of an object in document order

  /// The member `name`, or nullptr. Linear: for objects with few keys of known names.
  [[nodiscard]] const JsonNode* find(std::string_view name) const;
};

/// "an object", "a string", …
[[nodiscard]] std::string_view describe_kind(JsonNode::Kind kind);

struct JsonLimits {
  std::size_t bytes = 16UL << 20;
  std::size_t values = 1'000'000;
  std::size_t depth = 32;
};

/// Errors: malformed, with the place. A byte order mark is rejected, as RFC 8259 allows.
[[nodiscard]] Result<JsonNode> parse_json_tree(std::string_view text, std::string_view where,
                                               const JsonLimits& limits = {});

}  // namespace axle::documents
