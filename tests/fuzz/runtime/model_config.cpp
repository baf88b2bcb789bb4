// config.json of a model: numbers that a shape lets through are ones that the runtime can work
// with.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/model/description/model_shape.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using axle::fuzz::require;
  const auto shape = axle::runtime::parse_config(
      std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!shape) return 0;
  require(shape->hidden > 0 && shape->hidden % 16 == 0);
  require(shape->head_depth > 0 && shape->head_depth % 16 == 0);
  require(shape->feed_forward > 0 && shape->feed_forward % 16 == 0);
  require(shape->key_heads > 0 && shape->heads % shape->key_heads == 0);
  require(shape->vocabulary > 0 && shape->context > 0 && shape->layers > 0);
  require(shape->rotary.theta >= 1 && shape->rotary.factor > 0);
  return 0;
}
