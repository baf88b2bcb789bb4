#include "runtime/model/quantization/kept_tensor.h"

#include <cmath>

#include "runtime/half.h"
#include "runtime/model/description/required_tensors.h"

namespace axle::runtime {
namespace {

/// work(row) for the rows of a tensor in their order, until it fails.
template <class Work>
Result<void> for_each_row(const Tensor& tensor, Work work) {
  const std::size_t rows = tensor.rows();
  for (std::size_t r = 0; r < rows; ++r) {
    const Result<void> done = work(r);
    if (!done) return done;
  }
  return {};
}

}  // namespace

Result<KeptTensor> KeptTensor::plan(std::string name, const Tensor& tensor,
                                    const std::string& where) {
  KeptTensor kept(std::move(name), tensor);
  if (!row(tensor.type).is_float) return kept;
  const bool blocks = row(tensor.type).block_weights != 1;
  bool fits = true;
  std::vector<float> values(tensor.columns());
  const Result<void> read = for_each_row(tensor, [&](std::size_t r) -> Result<void> {
    const Result<void> done = read_finite_rows(tensor, where, r, 1, values.data());
    if (!done || !blocks) return done;
    for (const float value : values) {
      const float rounded = float_from_float16(float16_from_float(value));
      fits = fits && std::isfinite(rounded);
      const double difference = static_cast<double>(value) - static_cast<double>(rounded);
      kept.error_ += difference * difference;
      kept.size_ += static_cast<double>(value) * static_cast<double>(value);
    }
    return {};
  });
  if (!read) return std::unexpected(read.error());
  if (blocks) kept.type_ = fits ? TensorType::float16 : TensorType::float32;
  if (!fits) kept.error_ = 0;
  return kept;
}

TensorToWrite KeptTensor::to_write() const {
  if (!is_converted()) {
    TensorToWrite same = copy_of(*tensor_);
    same.name = name_;
    return same;
  }
  return {name_, type_, tensor_->shape, [this](const PutBytes& put) {
            return type_ == TensorType::float16 ? write_halves(put) : write_floats(put);
          }};
}

Result<void> KeptTensor::write_halves(const PutBytes& put) const {
  std::vector<float> values(tensor_->columns());
  std::vector<std::uint16_t> halves(values.size());
  return for_each_row(*tensor_, [&](std::size_t r) -> Result<void> {
    const Result<void> read = read_rows(*tensor_, r, 1, values.data());
    if (!read) return read;
    for (std::size_t i = 0; i < values.size(); ++i) halves[i] = float16_from_float(values[i]);
    return put(std::as_bytes(std::span(halves)));
  });
}

Result<void> KeptTensor::write_floats(const PutBytes& put) const {
  std::vector<float> values(tensor_->columns());
  return for_each_row(*tensor_, [&](std::size_t r) -> Result<void> {
    const Result<void> read = read_rows(*tensor_, r, 1, values.data());
    if (!read) return read;
    return put(std::as_bytes(std::span(values)));
  });
}

}  // namespace axle::runtime
