#pragma once
// JSON read piece by piece, so that a hostile text costs no more memory than what is wanted of it
// (a tree of the 50 million brackets that fit into a header would take gigabytes).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace axle::runtime {

/// Refuses every value; who derives from it says which ones are wanted. Each function is false
/// where the reading is to end, after stop().
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;

  /// Reads `text`, named `where` in errors; the first thing that is wrong ends it.
  [[nodiscard]] Result<void> read(std::string_view text, const std::string& where);

  virtual bool start_object() { return unwanted(); }
  virtual bool key(std::string& /*key*/) { return unwanted(); }
  virtual bool end_object() { return true; }
  virtual bool start_array() { return unwanted(); }
  virtual bool end_array() { return true; }
  virtual bool string(std::string& /*text*/) { return unwanted(); }
  virtual bool whole_number(std::uint64_t /*number*/) { return unwanted(); }
  /// null, true, false, and numbers with a sign, a point or an exponent; also what belongs to one
  /// of the others and is not wanted there.
  virtual bool unwanted() = 0;

  /// Keeps the first problem; always false.
  bool stop(std::unexpected<Failure> problem);

 protected:
  [[nodiscard]] const char* where() const { return where_.c_str(); }

 private:
  std::string where_;
  std::optional<Failure> problem_;
};

}  // namespace axle::runtime
