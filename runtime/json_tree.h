#pragma once
// A text of JSON that comes from elsewhere, as a tree.

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "runtime/result.h"

namespace axle::runtime {

/// nlohmann-json's destructor allocates as much as a list or object has members, which ends the
/// process where there is no memory: this one takes the tree down from its leaves.
class JsonTree {
 public:
  /// AXLE_MALFORMED for what check_json_nesting refuses. Where the text is no JSON the root is
  /// discarded.
  [[nodiscard]] static Result<JsonTree> parse(std::string_view text, const std::string& where);

  JsonTree(JsonTree&& other) noexcept;
  JsonTree& operator=(JsonTree&& other) = delete;
  ~JsonTree();

  [[nodiscard]] const nlohmann::json& root() const { return *root_; }

 private:
  JsonTree();

  std::unique_ptr<nlohmann::json> root_;  ///< null where it was moved from
};

}  // namespace axle::runtime
