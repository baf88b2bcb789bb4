// URLs of sources: what is taken of one stays inside of it, and is read again as the same.
#include "resolver/request/source_url.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/require.h"

namespace resolver = axle::resolver;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string shorter = resolver::without_egg(text);
  require(shorter.size() <= text.size());
  require(resolver::without_egg(shorter) == shorter);
  const auto source = resolver::parse_source_url(text);
  if (!source) return 0;
  require(text.find(source->url) != std::string::npos);
  require(!source->subdirectory.starts_with('/') && !source->subdirectory.starts_with("../"));
  require(source->subdirectory != ".." && !source->subdirectory.contains("/../"));
  require(!source->revision.starts_with('-'));
  const auto again = resolver::parse_source_url(shorter);
  require(again && again->kind == source->kind && again->url == source->url);
  require(again->revision == source->revision && again->subdirectory == source->subdirectory);
  return 0;
}
