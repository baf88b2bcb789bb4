// Hostile metadata against hostile lists: ranking must keep its promises whatever it is given.
// Input: a variants document, a line of "---", a JSON object {ns: {feature: [value, …]}}.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "foundation/report/report.h"
#include "resolver/choice/ranking.h"
#include "tests/fuzz/require.h"
#include "wheel/variant/variant_metadata.h"

namespace {

using axle::fuzz::require;
using axle::resolver::SupportedProperties;

constexpr std::string_view separator = "\n---\n";

SupportedProperties parse_lists(std::string_view text) {
  SupportedProperties supported;
  const auto lists = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!lists.is_object()) return supported;
  for (const auto& [ns, features] : lists.items()) {
    if (!features.is_object()) continue;
    for (const auto& [feature, values] : features.items()) {
      axle::providers::Feature entry{feature, true, {}};
      for (const auto& value : values) {
        if (value.is_string()) entry.values.push_back(value.get<std::string>());
      }
      supported[ns].push_back(std::move(entry));
    }
  }
  return supported;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = input.find(separator);
  if (cut == std::string_view::npos) return 0;
  axle::CollectedReport report;
  const auto metadata = axle::wheel::parse_variant_metadata(input.substr(0, cut), "fuzz", report);
  if (!metadata) return 0;
  const SupportedProperties supported = parse_lists(input.substr(cut + separator.size()));
  const auto ranking = axle::resolver::rank_variants(*metadata, supported);

  std::set<std::string> seen;
  bool null_seen = false;
  for (const auto& variant : ranking.ranked) {
    require(seen.insert(variant.label).second);
    const bool null = axle::wheel::is_null_variant(*metadata, variant.label);
    require(null || !null_seen);
    null_seen = null;
    const auto deciding = axle::resolver::deciding_properties(*metadata, variant.label, supported);
    const auto held = axle::resolver::supported_properties(*metadata, variant.label, supported);
    require(deciding.size() == variant.keys.size());
    for (const auto& property : deciding) require(held.contains(property));
    for (std::size_t k = 1; k < variant.keys.size(); ++k) {
      require(variant.keys[k - 1] < variant.keys[k]);
    }
  }
  for (const auto& variant : ranking.rejected) {
    require(seen.insert(variant.label).second);
    require(metadata->variants.at(variant.label).contains(variant.property));
  }
  require(seen.size() == metadata->variants.size());
  return 0;
}
