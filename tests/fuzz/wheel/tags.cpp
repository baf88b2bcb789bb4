// Tag triples of wheel names: every tag that comes out is one of the combinations that went in.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wheel/tag.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tags = axle::wheel::parse_tags(text);
  if (!tags) return 0;
  if (tags->empty()) std::abort();
  for (const axle::wheel::Tag& tag : *tags) {
    const auto again = axle::wheel::parse_tags(axle::wheel::render_tag(tag));
    if (!again || again->size() != 1 || !(again->front() == tag)) std::abort();
  }
  return 0;
}
