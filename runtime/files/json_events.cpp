#include "runtime/files/json_events.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/json_nesting.h"

namespace axle::runtime {
namespace {

/// nlohmann-json's events as ours.
class Forwarded final : public nlohmann::json::json_sax_t {
 public:
  Forwarded(JsonEvents& events, const char* where) : events_(events), where_(where) {}

  bool null() override { return events_.unwanted(); }
  bool boolean(bool) override { return events_.unwanted(); }
  bool number_integer(std::int64_t) override { return events_.unwanted(); }
  bool number_unsigned(std::uint64_t number) override { return events_.whole_number(number); }
  bool number_float(double, const std::string&) override { return events_.unwanted(); }
  bool string(std::string& text) override { return events_.string(text); }
  bool binary(nlohmann::json::binary_t&) override { return events_.unwanted(); }
  bool start_object(std::size_t) override { return events_.start_object(); }
  bool start_array(std::size_t) override { return events_.start_array(); }
  bool key(std::string& key) override { return events_.key(key); }
  bool end_object() override { return events_.end_object(); }
  bool end_array() override { return events_.end_array(); }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) override {
    return events_.stop(failure(AXLE_MALFORMED, "%s: no valid JSON at byte %zu of it", where_, at));
  }

 private:
  JsonEvents& events_;
  const char* where_;
};

}  // namespace

Result<void> JsonEvents::read(std::string_view text, const std::string& where) {
  where_ = where;
  Result<void> checked = check_json_nesting(text, where);
  if (!checked) return checked;
  Forwarded forwarded(*this, where.c_str());
  static_cast<void>(nlohmann::json::sax_parse(text, &forwarded));
  if (problem_) return std::unexpected(std::move(*problem_));
  return {};
}

bool JsonEvents::stop(std::unexpected<Failure> problem) {
  if (!problem_) problem_ = std::move(problem).error();
  return false;
}

}  // namespace axle::runtime
