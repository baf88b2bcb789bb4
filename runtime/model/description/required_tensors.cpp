#include "runtime/model/description/required_tensors.h"

#include <cmath>

#include "runtime/quantize/rounding.h"

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

Result<const Tensor*> require_shape(const TensorSource& source, const std::string& name,
                                    const std::vector<std::size_t>& shape) {
  const Result<const Tensor*> tensor = source.require(name);
  if (!tensor) return tensor;
  if ((*tensor)->shape != shape)
    return failure(AXLE_MALFORMED,
                   "%s: tensor \"%s\" has the shape %s; by the model's numbers it must be %s",
                   source.where().c_str(), name.c_str(), shape_text((*tensor)->shape).c_str(),
                   shape_text(shape).c_str());
  return tensor;
}

Result<const Tensor*> require_floats(const TensorSource& source, const std::string& name,
                                     const std::vector<std::size_t>& shape) {
  const Result<const Tensor*> tensor = require_shape(source, name, shape);
  if (!tensor) return tensor;
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

Result<LinearTensors> require_linear(const TensorSource& source, const std::string& name,
                                     std::size_t rows, std::size_t columns,
                                     const StoredQuantization* stored) {
  if (stored == nullptr) {
    const Result<const Tensor*> floats = require_matrix(source, name + ".weight", rows, columns);
    if (!floats) return std::unexpected(floats.error());
    return LinearTensors{*floats, nullptr};
  }
  const bool int4 = stored->group != 0;
  const TensorType type = int4                    ? TensorType::uint8
                          : stored->mode == "fp8" ? TensorType::float8_e4m3
                                                  : TensorType::int8;
  const Result<const Tensor*> weights =
      require_shape(source, name + ".weight", {rows, int4 ? (columns + 1) / 2 : columns});
  if (!weights) return std::unexpected(weights.error());
  if ((*weights)->type != type)
    return failure(AXLE_MALFORMED,
                   "%s: tensor \"%s.weight\" is of type %s; quantised to mode %s it must be %s",
                   source.where().c_str(), name.c_str(), row((*weights)->type).name,
                   stored->mode.c_str(), row(type).name);
  std::vector<std::size_t> shape{rows};
  if (int4) shape.push_back((columns + stored->group - 1) / stored->group);
  const Result<const Tensor*> scales = require_floats(source, name + ".weight_scale", shape);
  if (!scales) return std::unexpected(scales.error());
  return LinearTensors{*weights, *scales};
}

Result<void> read_finite_rows(const Tensor& tensor, const std::string& where, std::size_t first,
                              std::size_t count, float* to) {
  const Result<void> read = read_rows(tensor, first, count, to);
  if (!read || std::isfinite(largest_magnitude_of(to, count * tensor.columns()))) return read;
  std::size_t at = 0;
  while (std::isfinite(to[at])) ++at;
  const std::size_t column = at % tensor.columns();
  const std::string in_row =
      tensor.shape.size() > 1 ? "row " + std::to_string(first + at / tensor.columns()) + ", " : "";
  return failure(AXLE_MALFORMED,
                 "%s: tensor \"%s\": %selement %zu is not finite (%g); the file is damaged or was "
                 "converted wrongly: fetch or convert the model again",
                 where.c_str(), tensor.name.c_str(), in_row.c_str(), column,
                 static_cast<double>(to[at]));
}

Result<std::vector<float>> require_vector(const TensorSource& source, const std::string& name,
                                          std::size_t length) {
  const Result<const Tensor*> tensor = require_floats(source, name, {length});
  if (!tensor) return std::unexpected(tensor.error());
  std::vector<float> values(length);
  const Result<void> read = read_finite_rows(**tensor, source.where(), 0, 1, values.data());
  if (!read) return std::unexpected(read.error());
  return values;
}

}  // namespace axle::runtime
