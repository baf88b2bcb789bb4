#pragma once
// JSON read piece by piece, so that a hostile text costs no more memory than what is wanted of it
// (a tree of the 50 million brackets that fit into a header would take gigabytes).

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runtime/result.h"

namespace axle::runtime {

/// Refuses every value; who derives from it says which ones are wanted.
class JsonEvents : public nlohmann::json::json_sax_t {
 public:
  /// Reads `text`, named `where` in errors; the first thing that is wrong ends it.
  [[nodiscard]] Result<void> read(std::string_view text, const std::string& where) {
    where_ = where;
    // nlohmann-json takes a NUL for the end of the text.
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
      return failure(AXLE_MALFORMED, "%s: no valid JSON at byte %zu of it", where.c_str(), at + 1);
    if (!nlohmann::json::sax_parse(text, this))
      return std::unexpected(problem_.value_or(Failure{AXLE_MALFORMED, where + ": not JSON"}));
    return {};
  }

  bool null() override { return unwanted(); }
  bool boolean(bool) override { return unwanted(); }
  bool number_integer(std::int64_t) override { return unwanted(); }
  bool number_unsigned(std::uint64_t) override { return unwanted(); }
  bool number_float(double, const std::string&) override { return unwanted(); }
  bool string(std::string&) override { return unwanted(); }
  bool binary(nlohmann::json::binary_t&) override { return unwanted(); }
  bool start_object(std::size_t) override { return unwanted(); }
  bool start_array(std::size_t) override { return unwanted(); }
  bool key(std::string&) override { return unwanted(); }
  bool end_object() override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) override {
    return stop(failure(AXLE_MALFORMED, "%s: no valid JSON at byte %zu of it", where_.c_str(), at));
  }

 protected:
  /// Called for a value where none of its kind belongs.
  virtual bool unwanted() = 0;

  /// Keeps the first problem; always false, which ends the reading.
  bool stop(std::unexpected<Failure> problem) {
    if (!problem_) problem_ = std::move(problem).error();
    return false;
  }
  [[nodiscard]] const char* where() const { return where_.c_str(); }

 private:
  std::string where_;
  std::optional<Failure> problem_;
};

}  // namespace axle::runtime
