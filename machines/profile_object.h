#pragma once
// Reading JSON objects strictly: the first thing that is wrong is told with the file and the place,
// and keys that nobody asked for are refused. For the readers of profiles.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "detect/machine.h"
#include "foundation/report/error.h"

namespace axle::machines {

/// The first thing that is wrong with a file; what is read after it does not count.
class Reading {
 public:
  explicit Reading(std::string_view where) : where_(where) {}

  void refuse(std::string_view path, std::string_view why);
  void refuse(Error error);
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::optional<Error> error_;
};

/// One JSON object: every key is asked for once, and `finish` refuses those nobody asked for.
class Object {
 public:
  /// `json` and `reading` must outlive this.
  Object(const nlohmann::json& json, std::string path, Reading& reading);

  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] Reading& reading() { return reading_; }
  [[nodiscard]] const nlohmann::json& json() const { return json_; }
  [[nodiscard]] bool has(const std::string& key) const;

  /// The value under `key`, or nullptr; the key counts as asked for.
  const nlohmann::json* find(const std::string& key);
  /// Each of these is empty, absent or false where the key is missing or its value of another kind;
  /// the latter is refused. Texts have no control characters but newline and tab.
  std::string text(const std::string& key);
  std::optional<std::uint64_t> number(const std::string& key, std::uint64_t largest);
  bool flag(const std::string& key);
  detect::Presence presence(const std::string& key);

  /// Calls `read(Object&)` for the object under `key`, where there is one.
  void part(const std::string& key, const std::function<void(Object&)>& read);
  /// Calls `read(Object&)` for every element of the array under `key`.
  void each(const std::string& key, const std::function<void(Object&)>& read);
  /// Calls `read(key)` for every key of this object, in the order of their bytes.
  void keys(const std::function<void(const std::string&)>& read);

  void finish();

 private:
  const nlohmann::json& json_;
  std::string path_;
  Reading& reading_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace axle::machines
