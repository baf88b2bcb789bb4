#include "cli/views/facts_view.h"

#include <nlohmann/json.hpp>

namespace axle::cli {

using nlohmann::ordered_json;

ordered_json facts_json(const Facts& facts) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
  };
  ordered_json rows = ordered_json::array();
  for (const Fact& fact : facts) {
    ordered_json seen = ordered_json::array();
    for (const std::string& one : fact.seen) seen.push_back(or_null(one));
    rows.push_back({{"code", render_code(fact.code)},
                    {"subject", or_null(fact.subject)},
                    {"needed", fact.needed},
                    {"seen", std::move(seen)},
                    {"source", or_null(fact.source)}});
  }
  return rows;
}

}  // namespace axle::cli
