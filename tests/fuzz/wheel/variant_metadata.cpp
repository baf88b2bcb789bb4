// Variant metadata from an index or a wheel: whatever is read and can be written reads back the
// same.
#include "wheel/variant/variant_metadata.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  axle::CollectedReport report;
  const auto metadata = axle::wheel::parse_variant_metadata(text, "fuzz", report);
  if (!metadata) return 0;
  const auto merged = axle::wheel::merge_variant_metadata(*metadata, "one", *metadata, "other");
  if (!merged || *merged != *metadata) std::abort();
  const auto written = axle::wheel::render_variant_metadata(*metadata);
  if (!written) return 0;
  auto back = axle::wheel::parse_variant_metadata(*written, "fuzz", report);
  if (!back) std::abort();
  back->schema_version = metadata->schema_version;
  // Empty tables of 0.0.x are the one thing that is dropped.
  back->feature_priorities = metadata->feature_priorities;
  back->property_priorities = metadata->property_priorities;
  for (auto& [ns, provider] : back->providers) {
    provider.install_time = metadata->providers.at(ns).install_time;
  }
  if (*back != *metadata) std::abort();
  return 0;
}
