#include "runtime/forward/row_source.h"

#include <cstring>

#include "runtime/activation_types.h"

namespace axle::runtime {

void make_row(const RowSource& source, const ModelSteps& steps, std::size_t r, std::size_t k,
              float* to) {
  const float* const floats = static_cast<const float*>(source.x);
  switch (source.kind) {
    case RowSource::Kind::stored: {
      const std::size_t stride = k * activation_bytes(source.type);
      convert_to_float(source.type, static_cast<const char*>(source.x) + r * stride, k, to);
      break;
    }
    case RowSource::Kind::rms_norm:
      steps.rms_norm(floats + r * k, source.weight, k, source.epsilon, to);
      break;
    case RowSource::Kind::silu_multiply:
      steps.silu_multiply(floats + 2 * r * k, floats + (2 * r + 1) * k, k, to);
      break;
    case RowSource::Kind::gelu:
      std::memcpy(to, floats + r * k, k * sizeof(float));
      steps.gelu(to, k);
      break;
  }
}

std::size_t operations_of(RowSource::Kind kind) {
  switch (kind) {
    case RowSource::Kind::stored:
      return 1;
    case RowSource::Kind::rms_norm:
      return 2;
    case RowSource::Kind::silu_multiply:
      return 8;
    case RowSource::Kind::gelu:
      return 16;
  }
  return 1;
}

}  // namespace axle::runtime
