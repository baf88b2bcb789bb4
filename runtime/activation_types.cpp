#include "runtime/activation_types.h"

#include <cstdint>
#include <cstring>

#include "runtime/half.h"

namespace axle::runtime {
namespace {

template <class Convert>
void convert_halves(const void* from, std::size_t count, float* to, Convert convert) {
  const std::uint16_t* const halves = static_cast<const std::uint16_t*>(from);
  for (std::size_t i = 0; i < count; ++i) to[i] = convert(halves[i]);
}

}  // namespace

std::size_t activation_bytes(axle_type type) {
  if (type == AXLE_FLOAT32) return 4;
  if (type == AXLE_BFLOAT16 || type == AXLE_FLOAT16) return 2;
  return 0;
}

void convert_to_float(axle_type type, const void* from, std::size_t count, float* to) {
  if (type == AXLE_FLOAT32) std::memcpy(to, from, count * sizeof(float));
  if (type == AXLE_BFLOAT16) convert_halves(from, count, to, float_from_bfloat16);
  if (type == AXLE_FLOAT16) convert_halves(from, count, to, float_from_float16);
}

}  // namespace axle::runtime
