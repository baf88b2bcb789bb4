#pragma once
// The strict reader of JSON: typed, with the file and the place in every complaint. The first thing
// that is wrong is told, and keys that nobody asked for are refused. As TomlTable, for JSON.

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
};

/// A place in a document: rendered only when something is wrong there.
struct JsonPlace {
  static constexpr std::size_t no_index = std::numeric_limits<std::size_t>::max();

  const JsonPlace* parent = nullptr;  ///< nullptr: the whole document
  std::string_view key = {};
  std::size_t index = no_index;  ///< of an element of an array, in the place of a key
};

/// "gpus[0].arch", keys that are no words quoted; empty for the whole document.
[[nodiscard]] std::string render_place(const JsonPlace& place);

/// The first thing that is wrong with a file; what is read after it does not count.
class JsonReading {
 public:
  /// `hint` is that of every complaint that has none of its own.
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

/// Which texts may stand somewhere, and what they are called: {is_property_value, "property
/// value"}.
struct TextRule {
  bool (*holds)(std::string_view);
  std::string_view name;
};
inline constexpr TextRule any_text{[](std::string_view) { return true; }, "text"};

struct ListRule {
  TextRule item;
  bool may_be_empty = false;
  bool may_repeat = false;  ///< one text may stand twice
};

/// One JSON object. Where a document is read strictly, every key is asked for and `finish` refuses
/// those that nobody asked for.
class JsonObject {
 public:
  /// The whole document. `node` and `reading` must outlive this.
  JsonObject(const JsonNode& node, JsonReading& reading) : JsonObject(node, JsonPlace{}, reading) {}
  /// What is at `place`, whose parents must outlive this too.
  JsonObject(const JsonNode& node, const JsonPlace& place, JsonReading& reading);
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  [[nodiscard]] std::string path() const { return render_place(place_); }
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] JsonReading& reading() { return reading_; }
  [[nodiscard]] bool has(std::string_view key) const { return index_of(key).has_value(); }
  /// The number of keys.
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  /// Refuses this object.
  void refuse_object(std::string_view why, std::string hint = {});
  /// Refuses the value under `key`.
  void refuse(std::string_view key, std::string_view why, std::string hint = {});
  /// Refuses element `index` of the array under `key`.
  void refuse_element(std::string_view key, std::size_t index, std::string_view why,
                      std::string hint = {});
  /// Refuses this object where `key` is missing.
  void require(std::string_view key);

  /// The value under `key`, or nullptr; the key counts as asked for.
  [[nodiscard]] const JsonNode* find(std::string_view key);
  /// Each of these is empty, absent or false where the key is missing or its value of another kind;
  /// the latter is refused. Texts have no control characters but newline and tab.
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view key, std::uint64_t largest);
  [[nodiscard]] bool flag(std::string_view key);
  /// A text that the rule holds for, whatever characters it has.
  [[nodiscard]] std::string text(std::string_view key, const TextRule& rule);
  /// A list of texts that the rule holds for.
  [[nodiscard]] std::vector<std::string> list(std::string_view key, const ListRule& rule);

  /// Calls `read(JsonObject&)` for the object under `key`, where there is one, and finishes it.
  void part(std::string_view key, const std::function<void(JsonObject&)>& read);
  /// Calls `read(JsonObject&)` for every element of the array under `key`, and finishes each.
  void each(std::string_view key, const std::function<void(JsonObject&)>& read);
  /// Calls `read(key)` for every key of this object, in the order of the document.
  void keys(const std::function<void(const std::string&)>& read);
  /// Calls `read(key, JsonObject&)` for every member, in the order of the document; all are objects
  /// and count as asked for. Nothing is finished.
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
