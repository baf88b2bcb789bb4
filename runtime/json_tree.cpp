#include "runtime/json_tree.h"

#include <nlohmann/json.hpp>

#include "runtime/json_nesting.h"

namespace axle::runtime {
namespace {

using nlohmann::json;

/// As deep as check_json_nesting lets a text be. A list or object without members allocates
/// nothing when it goes.
void empty(json& value) {
  if (value.is_array()) {
    json::array_t& list = value.get_ref<json::array_t&>();
    for (json& one : list) empty(one);
    list.clear();
  } else if (value.is_object()) {
    json::object_t& members = value.get_ref<json::object_t&>();
    for (auto& [key, one] : members) empty(one);
    members.clear();
  }
}

}  // namespace

Result<JsonTree> JsonTree::parse(std::string_view text, const std::string& where) {
  const Result<void> nesting = check_json_nesting(text, where);
  if (!nesting) return std::unexpected(nesting.error());
  JsonTree tree;
  // As json::parse does it, but also what is there when memory ends is taken down by ~JsonTree.
  nlohmann::detail::json_sax_dom_parser<json> builder(*tree.root_, false);
  const bool read = json::sax_parse(text, &builder);
  if (!read || builder.is_errored()) {
    empty(*tree.root_);
    *tree.root_ = json(json::value_t::discarded);
  }
  return tree;
}

JsonTree::JsonTree() : root_(std::make_unique<json>()) {}

JsonTree::JsonTree(JsonTree&& other) noexcept = default;

JsonTree::~JsonTree() {
  if (root_ != nullptr) empty(*root_);
}

}  // namespace axle::runtime
