#include "foundation/documents/json_tree.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "foundation/text/quote.h"

namespace axle::documents {
namespace {

/// Receives the events of the JSON library's parser and builds the tree.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(const JsonLimits& limits) : limits_(limits) {}

  [[nodiscard]] JsonNode take_root() { return std::move(root_); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

  bool null() override { return add({}) != nullptr; }
  bool boolean(bool value) override {
    JsonNode* node = add(JsonNode::Kind::boolean);
    if (node != nullptr) node->boolean = value;
    return node != nullptr;
  }
  bool number_integer(number_integer_t) override { return add_number(); }
  bool number_unsigned(number_unsigned_t value) override {
    JsonNode* node = add(JsonNode::Kind::number);
    if (node != nullptr) node->whole = value;
    return node != nullptr;
  }
  bool number_float(number_float_t, const string_t&) override { return add_number(); }
  bool string(string_t& value) override {
    JsonNode* node = add(JsonNode::Kind::string);
    if (node != nullptr) node->text = std::move(value);
    return node != nullptr;
  }
  bool binary(binary_t&) override { return false; }  // never in JSON text

  bool start_object(std::size_t) override { return open(JsonNode::Kind::object); }
  bool key(string_t& value) override {
    if (!open_.back().keys.insert(value).second) {
      problem_ = fmt::format("the key {} is duplicated in an object", text::quote(value));
      return false;
    }
    open_.back().node->items.emplace_back().key = std::move(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(JsonNode::Kind::array); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    problem_ = fmt::format("is not JSON: invalid or incomplete at byte {}", position);
    return false;
  }

 private:
  /// A container being filled. Its node does not move: its parent does not grow meanwhile.
  struct Open {
    JsonNode* node;
    std::unordered_set<std::string> keys;
  };

  JsonNode* add(JsonNode::Kind kind) {
    if (++values_ > limits_.values) {
      problem_ = fmt::format("more than {} values", limits_.values);
      return nullptr;
    }
    JsonNode* node = &root_;
    if (!open_.empty()) {
      JsonNode& parent = *open_.back().node;
      node = parent.kind == JsonNode::Kind::array ? &parent.items.emplace_back()
                                                  : &parent.items.back();
    }
    node->kind = kind;
    return node;
  }

  bool add_number() { return add(JsonNode::Kind::number) != nullptr; }

  bool open(JsonNode::Kind kind) {
    if (open_.size() == limits_.depth) {
      problem_ = fmt::format("nested more than {} deep", limits_.depth);
      return false;
    }
    JsonNode* node = add(kind);
    if (node == nullptr) return false;
    open_.push_back({node, {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  JsonNode root_;
  std::vector<Open> open_;
  std::size_t values_ = 0;
  std::string problem_;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view name) const {
  const auto found = std::ranges::find(items, name, &JsonNode::key);
  return kind == Kind::object && found != items.end() ? &*found : nullptr;
}

std::string_view describe_kind(JsonNode::Kind kind) {
  switch (kind) {
    case JsonNode::Kind::null:
      return "null";
    case JsonNode::Kind::boolean:
      return "a boolean";
    case JsonNode::Kind::number:
      return "a number";
    case JsonNode::Kind::string:
      return "a string";
    case JsonNode::Kind::array:
      return "an array";
    case JsonNode::Kind::object:
      return "an object";
  }
  return "nothing";
}

Result<JsonNode> parse_json_tree(std::string_view text, std::string_view where,
                                 const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return fail(ErrorKind::malformed, fmt::format("{}: {} bytes of JSON, more than the {} expected",
                                                  where, text.size(), limits.bytes));
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    return fail(ErrorKind::malformed, fmt::format("{}: JSON with a byte order mark", where),
                "save the file as UTF-8 without byte order mark");
  }
  TreeBuilder builder(limits);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
    return fail(ErrorKind::malformed, fmt::format("{}: {}", where, builder.problem()));
  }
  return builder.take_root();
}

}  // namespace axle::documents
