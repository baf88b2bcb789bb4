#include "runtime/model/description/required_tensors.h"

#include <cmath>

namespace axle::runtime {
namespace {

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (const std::size_t length : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(length);
  }
  return text + "]";
}

Result<const Tensor*> require_floats(const TensorSource& source, const std::string& name,
                                     const std::vector<std::size_t>& shape) {
  const Result<const Tensor*> tensor = source.require(name);
  if (!tensor) return tensor;
  if ((*tensor)->shape != shape)
    return failure(AXLE_MALFORMED,
                   "%s: tensor \"%s\" has the shape %s; by the model's numbers it must be %s",
                   source.where().c_str(), name.c_str(), shape_text((*tensor)->shape).c_str(),
                   shape_text(shape).c_str());
  if (!row((*tensor)->type).is_float)
    return failure(AXLE_UNSUPPORTED,
                   "%s: tensor \"%s\" is of type %s; only floats and ggml's blocks are weights",
                   source.where().c_str(), name.c_str(), row((*tensor)->type).name);
  return tensor;
}

}  // namespace

Result<const Tensor*> require_matrix(const TensorSource& source, const std::string& name,
                                     std::size_t rows, std::size_t columns) {
  return require_floats(source, name, {rows, columns});
}

Result<std::vector<float>> require_vector(const TensorSource& source, const std::string& name,
                                          std::size_t length) {
  const Result<const Tensor*> tensor = require_floats(source, name, {length});
  if (!tensor) return std::unexpected(tensor.error());
  std::vector<float> values(length);
  read_rows(**tensor, 0, 1, values.data());
  for (std::size_t i = 0; i < length; ++i) {
    if (!std::isfinite(values[i]))
      return failure(AXLE_MALFORMED, "%s: tensor \"%s\": element %zu is not finite",
                     source.where().c_str(), name.c_str(), i);
  }
  return values;
}

}  // namespace axle::runtime
