#pragma once
// The strict reader of JSON: typed, with the file and the place in every error. Reports the first
// error, and rejects unknown keys but where a format allows them. The counterpart of TomlTable.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/documents/json_tree.h"
#include "foundation/report/error.h"

namespace axle::documents {

struct JsonBounds {
  std::size_t longest_text = 4096;  ///< bytes of one string
  std::size_t most_items = 1024;    ///< of one array of objects
  bool unknown_keys = false;        ///< are ignored: of formats whose standard says so
};

/// A place in a document: only rendered for an error.
struct JsonPlace {
  static constexpr std::size_t no_index = std::numeric_limits<std::size_t>::max();

  const JsonPlace* parent = nullptr;  ///< nullptr: the whole document
  std::string_view key = {};
  std::size_t index = no_index;  ///< of an element of an array, instead of a key
};

/// "gpus[0].arch", unusual keys quoted; empty for the whole document.
[[nodiscard]] std::string render_place(const JsonPlace& place);

/// The first error in a file; values read after it are ignored.
class JsonReading {
 public:
  /// `hint` is used for every error without its own.
  JsonReading(std::string_view where, std::string hint, JsonBounds bounds = {})
      : where_(where), hint_(std::move(hint)), bounds_(bounds) {}

  /// "where: place: why"; `place` is empty for the whole document.
  void refuse(std::string_view place, std::string_view why, std::string hint = {});
  void refuse(Error error);

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const JsonBounds& bounds() const { return bounds_; }

 private:
  std::string where_;
  std::string hint_;
  JsonBounds bounds_;
  std::optional<Error> error_;
};

/// Which texts are valid somewhere, and their name: {is_property_value, "property value"}.
struct TextRule {
  bool (*holds)(std::string_view);
  std::string_view name;
};
inline constexpr TextRule any_text{[](std::string_view) { return true; }, "text"};

struct ListRule {
  TextRule item;
  bool may_be_empty = false;
  bool may_repeat = false;  ///< duplicates are allowed
};

/// One JSON object. When a document is read strictly, every known key is read and `finish` rejects
/// the others.
class JsonObject {
 public:
  /// The whole document. `node` and `reading` must outlive this.
  JsonObject(const JsonNode& node, JsonReading& reading) : JsonObject(node, JsonPlace{}, reading) {}
  /// The value at `place`, whose parents must outlive this too.
  JsonObject(const JsonNode& node, const JsonPlace& place, JsonReading& reading);
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  [[nodiscard]] std::string path() const { return render_place(place_); }
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] JsonReading& reading() { return reading_; }
  [[nodiscard]] bool has(std::string_view key) const { return index_of(key).has_value(); }
  /// The number of keys.
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  /// Rejects this object.
  void refuse_object(std::string_view why, std::string hint = {});
  /// Rejects the value under `key`.
  void refuse(std::string_view key, std::string_view why, std::string hint = {});
  /// Rejects element `index` of the array under `key`.
  void refuse_element(std::string_view key, std::size_t index, std::string_view why,
                      std::string hint = {});
  /// Rejects this object if `key` is missing.
  void require(std::string_view key);

  /// The value under `key`, or nullptr; marks the key as known.
  [[nodiscard]] const JsonNode* find(std::string_view key);
  /// Each of these is empty, absent or false if the key is missing or its value is of another kind;
  /// the latter is rejected. Texts have no control characters except newline and tab.
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view key, std::uint64_t largest);
  [[nodiscard]] bool flag(std::string_view key);
  /// A text that satisfies the rule, with any characters.
  [[nodiscard]] std::string text(std::string_view key, const TextRule& rule);
  /// A list of texts that satisfy the rule.
  [[nodiscard]] std::vector<std::string> list(std::string_view key, const ListRule& rule);

  /// Calls `read(JsonObject&)` for the object under `key`, if there is one, and finishes it.
  void part(std::string_view key, const std::function<void(JsonObject&)>& read);
  /// Calls `read(JsonObject&)` for every element of the array under `key`, and finishes each.
  void each(std::string_view key, const std::function<void(JsonObject&)>& read);
  /// Calls `read(key)` for every key of this object, in the order of the document.
  void keys(const std::function<void(const std::string&)>& read);
  /// Calls `read(key, JsonObject&)` for every member, in the order of the document; all are objects
  /// and become known. Nothing is finished.
  void parts(const std::function<void(const std::string&, JsonObject&)>& read);

  void finish();

 private:
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view key) const;
  [[nodiscard]] const JsonNode* find(std::string_view key, JsonNode::Kind kind);
  bool expect(const JsonNode& value, JsonNode::Kind kind, const JsonPlace& place);

  std::span<const JsonNode> members_;
  JsonPlace place_;
  JsonReading& reading_;
  mutable std::vector<std::size_t> by_key_;  ///< members of a large object, once it is searched
  std::vector<bool> asked_;                  ///< by place in the document; empty: none yet
};

}  // namespace axle::documents
