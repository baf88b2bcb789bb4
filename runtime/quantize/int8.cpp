#include "runtime/quantize/int8.h"

#include <cstring>

namespace axle::runtime {
namespace {

using Floats [[gnu::vector_size(8)]] = float;
using Doubles [[gnu::vector_size(16)]] = double;

/// Beyond this a double has no fraction: adding and subtracting it rounds.
constexpr double whole_from = 6755399441055744.0;

Doubles nearest(const Floats& weights, double scale) {
  const Doubles ratio = __builtin_convertvector(weights, Doubles) / (Doubles{} + scale);
  const Doubles rounded = (ratio + whole_from) - whole_from;
  const Doubles not_above = rounded > 127.0 ? Doubles{} + 127.0 : rounded;
  return not_above < -127.0 ? Doubles{} - 127.0 : not_above;
}

}  // namespace

void quantise_to_int8(const float* weights, std::size_t count, float scale, std::int8_t* q) {
  if (scale == 0) {
    std::memset(q, 0, count);
    return;
  }
  for (std::size_t i = 0; i < count; i += 2) {
    Floats pair{};
    if (i + 2 <= count) {
      std::memcpy(&pair, weights + i, sizeof pair);
    } else {
      pair[0] = weights[i];
    }
    const Doubles whole = nearest(pair, static_cast<double>(scale));
    q[i] = static_cast<std::int8_t>(whole[0]);
    if (i + 1 < count) q[i + 1] = static_cast<std::int8_t>(whole[1]);
  }
}

}  // namespace axle::runtime
