// Core metadata: any bytes give either an error that names the file, or readable metadata.
#include "wheel/core_metadata.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/text/utf8.h"
#include "tests/fuzz/require.h"
#include "wheel/variant/variant_markers.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

namespace {

/// What an installation writes: readable again, without the variant, and with the requirements that
/// hold for it.
void check_evaluated(std::string_view text, const wheel::CoreMetadata& metadata) {
  wheel::MarkerEnvironment environment =
      wheel::variant_markers({}, "cu128", {{"nvidia", "sm", "90"}});
  environment.strings.insert({{"os_name", "posix"}, {"python_version", "3.11"}});
  const auto evaluated = wheel::evaluate_variant_metadata(text, environment);
  if (!axle::text::is_valid_utf8(text)) return;
  require(evaluated.has_value());
  const auto again = wheel::parse_core_metadata(*evaluated, "METADATA");
  require(again.has_value() && again->description == metadata.description);
  const auto holding = [&](const wheel::CoreMetadata& one) {
    std::vector<std::string> names;
    for (const wheel::Requirement& requirement : one.requires_dist) {
      if (!requirement.marker || requirement.marker->evaluate(environment))
        names.push_back(requirement.name);
    }
    return names;
  };
  require(holding(*again) == holding(metadata));
  for (const wheel::Requirement& requirement : again->requires_dist)
    require(!requirement.marker || !wheel::mentions_variant(*requirement.marker));
}

/// Without what nobody reads it says the same.
void check_essential(const wheel::CoreMetadata& metadata) {
  const auto essential = wheel::essential_metadata(metadata);
  require(essential.has_value() == metadata.remarks.empty());
  if (!essential) return;
  const auto again = wheel::parse_core_metadata(*essential, "METADATA");
  require(again.has_value() && again->remarks.empty() && again->description.empty());
  require(again->metadata_version == metadata.metadata_version && again->name == metadata.name);
  require(again->version == metadata.version && again->summary == metadata.summary);
  require(wheel::render_specifiers(again->requires_python) ==
          wheel::render_specifiers(metadata.requires_python));
  require(again->provides_extra == metadata.provides_extra);
  require(again->requires_dist.size() == metadata.requires_dist.size());
  for (std::size_t i = 0; i < metadata.requires_dist.size(); ++i) {
    require(wheel::render_requirement(again->requires_dist[i]) ==
            wheel::render_requirement(metadata.requires_dist[i]));
  }
  require(wheel::essential_metadata(*again) == essential);
  const auto rest = wheel::parse_core_metadata(wheel::without_requirements(*essential), "METADATA");
  require(rest && rest->name == metadata.name && rest->version == metadata.version);
  require(rest->summary == metadata.summary);
  require(wheel::render_specifiers(rest->requires_python) ==
          wheel::render_specifiers(metadata.requires_python));
  require(rest->requires_dist.empty() && rest->provides_extra.empty() && rest->remarks.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto metadata = wheel::parse_core_metadata(text, "METADATA");
  if (!metadata) {
    require(metadata.error().message.starts_with("METADATA: "));
    require(axle::text::is_valid_utf8(metadata.error().message));
    return 0;
  }
  require(wheel::is_valid_name(metadata->name));
  require(axle::text::is_valid_utf8(metadata->description));
  for (const auto& [field, value] : metadata->fields) {
    require(!field.empty() && axle::text::is_valid_utf8(value));
  }
  for (const wheel::Requirement& requirement : metadata->requires_dist) {
    require(wheel::parse_requirement(wheel::render_requirement(requirement)).has_value());
  }
  check_evaluated(text, *metadata);
  check_essential(*metadata);
  return 0;
}
