// Core metadata: any bytes give either an error that names the file, or readable metadata.
#include "wheel/core_metadata.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "wheel/utf8.h"

namespace wheel = axle::wheel;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto metadata = wheel::parse_core_metadata(text, "METADATA");
  if (!metadata) {
    require(metadata.error().message.starts_with("METADATA: "));
    require(wheel::is_valid_utf8(metadata.error().message));
    return 0;
  }
  require(wheel::is_valid_name(metadata->name));
  require(wheel::is_valid_utf8(metadata->description));
  for (const auto& [field, value] : metadata->fields) {
    require(!field.empty() && wheel::is_valid_utf8(value));
  }
  for (const wheel::Requirement& requirement : metadata->requires_dist) {
    require(wheel::parse_requirement(wheel::render_requirement(requirement)).has_value());
  }
  return 0;
}
