#pragma once
// Typed reading of JSON with the file and the place in every complaint: the first thing that is
// wrong is told, and keys that nobody asked for are refused. As TomlTable, for JSON.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

/// The first thing that is wrong with a file; what is read after it does not count.
class JsonReading {
 public:
  /// `hint` is that of every complaint.
  JsonReading(std::string_view where, std::string hint, JsonBounds bounds = {})
      : where_(where), hint_(std::move(hint)), bounds_(bounds) {}

  /// `path` is empty for the whole document.
  void refuse(std::string_view path, std::string_view why);
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

/// One JSON object: every key is asked for, and `finish` refuses those that nobody asked for.
class JsonObject {
 public:
  /// `node` and `reading` must outlive this.
  JsonObject(const JsonNode& node, std::string path, JsonReading& reading);

  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] JsonReading& reading() { return reading_; }
  [[nodiscard]] bool has(std::string_view key) const;
  /// The number of keys.
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  /// Refuses the value under `key`.
  void refuse(std::string_view key, std::string_view why);

  /// The value under `key`, or nullptr; the key counts as asked for.
  [[nodiscard]] const JsonNode* find(std::string_view key);
  /// Each of these is empty, absent or false where the key is missing or its value of another kind;
  /// the latter is refused. Texts have no control characters but newline and tab.
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view key, std::uint64_t largest);
  [[nodiscard]] bool flag(std::string_view key);

  /// Calls `read(JsonObject&)` for the object under `key`, where there is one, and finishes it.
  void part(std::string_view key, const std::function<void(JsonObject&)>& read);
  /// Calls `read(JsonObject&)` for every element of the array under `key`, and finishes each.
  void each(std::string_view key, const std::function<void(JsonObject&)>& read);
  /// Calls `read(key)` for every key of this object, in the order of their bytes.
  void keys(const std::function<void(const std::string&)>& read);

  void finish();

 private:
  struct Member {
    const JsonNode* node;
    bool asked = false;
  };
  [[nodiscard]] const Member* member(std::string_view key) const;

  std::vector<Member> members_;  ///< by key
  std::string path_;
  JsonReading& reading_;
};

}  // namespace axle::documents
