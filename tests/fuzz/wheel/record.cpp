// RECORD files: what is read is rendered to text that reads back the same, and salvaged as it is.
#include "wheel/record.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto record = axle::wheel::parse_record(text, "fuzz");
  const auto salvaged = axle::wheel::salvage_record(text);
  if (!record) return 0;
  if (salvaged != *record) std::abort();
  const auto back = axle::wheel::parse_record(axle::wheel::render_record(*record), "fuzz");
  if (!back || *back != *record) std::abort();
  return 0;
}
