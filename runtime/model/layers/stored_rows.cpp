#include "runtime/model/layers/stored_rows.h"

#include <cmath>

#include "runtime/quantize/float8.h"
#include "runtime/quantize/int4.h"

namespace axle::runtime {
namespace {

bool is_known_group(std::size_t group) { return group == 32 || group == 64 || group == 128; }

}  // namespace

Result<ModelMode> choose_mode(const ModelShape& shape, std::string_view name,
                              const std::string& where) {
  const std::string wanted(!name.empty() ? name : shape.stored ? shape.stored->mode : "a16w8");
  const ModelMode* const known = find_mode(wanted);
  if (shape.stored) {
    const ModelMode* const own = find_mode(shape.stored->mode);
    if (own == nullptr || !own->quantised ||
        (own->group != 0) != is_known_group(shape.stored->group) ||
        (own->group == 0 && shape.stored->group != 0))
      return failure(AXLE_MALFORMED,
                     "%s: quantization_config: there is no mode \"%s\" with groups of %zu weights",
                     where.c_str(), shape.stored->mode.c_str(), shape.stored->group);
    if (known != nullptr && known != own)
      return failure(AXLE_UNSUPPORTED,
                     "%s: the weights are stored quantised to mode %s and run in that mode only, "
                     "not in %s; quantise the original model to it",
                     where.c_str(), own->name, known->name);
  }
  if (known == nullptr)
    return failure(AXLE_BAD_ARGUMENT, "there is no mode \"%s\"", wanted.c_str());
  ModelMode mode = *known;
  if (shape.stored) {
    mode.group = shape.stored->group;
    mode.signed_scales = shape.stored->method != "absmax" && shape.stored->method != "mse";
  }
  return mode;
}

StoredRows::StoredRows(const WeightRows& weights, const ModelMode& mode)
    : weights_(&weights),
      mode_(mode),
      columns_(weights.columns()),
      group_(mode.group != 0 ? mode.group : columns_),
      groups_((columns_ + group_ - 1) / group_) {}

Result<StoredRows> StoredRows::open(const WeightRows& weights, const ModelMode& mode) {
  StoredRows rows(weights, mode);
  rows.scales_.reserve(weights.rows() * rows.groups_);
  for (const WeightRows::Part& part : weights.parts()) {
    const Result<void> read = rows.read_scales(part);
    if (!read) return std::unexpected(read.error());
  }
  return rows;
}

Result<void> StoredRows::read_scales(const WeightRows::Part& part) {
  const std::size_t before = scales_.size();
  const std::size_t rows = part.tensor->shape.front();
  scales_.resize(before + rows * groups_);
  // Scales of a row each are a vector, which has one row.
  Tensor all = *part.scales;
  all.shape = {rows, groups_};
  const Result<void> read = read_rows(all, 0, rows, scales_.data() + before);
  for (std::size_t i = 0; read && i < rows * groups_; ++i) {
    const Result<void> checked = check_scale(part, i / groups_, i % groups_, scales_[before + i]);
    if (!checked) return checked;
  }
  return read;
}

Result<void> StoredRows::read(std::size_t first, std::size_t count, std::int8_t* to) const {
  std::size_t start = 0;  // of the part
  for (const WeightRows::Part& part : weights_->parts()) {
    const std::size_t end = start + part.tensor->shape.front();
    for (; count > 0 && first < end; ++first, --count, to += columns_) {
      const std::size_t row = first - start;
      const Result<void> read = read_row(part, row, to);
      if (!read) return read;
      const Result<void> checked = check_values(part, row, scales_.data() + first * groups_, to);
      if (!checked) return checked;
    }
    start = end;
  }
  return {};
}

Result<void> StoredRows::read_row(const WeightRows::Part& part, std::size_t row,
                                  std::int8_t* to) const {
  const std::size_t bytes = part.tensor->shape.back();
  // Of two weights a byte the bytes lie in the row's second half until they are taken apart.
  std::byte* const from = reinterpret_cast<std::byte*>(to) + (columns_ - bytes);
  const Result<void> read = read_bytes(*part.tensor, row * bytes, {from, bytes});
  if (!read || mode_.group == 0) return read;
  for (std::size_t i = 0; i < columns_; ++i) {
    const unsigned both = static_cast<unsigned>(from[i / 2]);
    to[i] = static_cast<std::int8_t>(static_cast<int>(i % 2 == 0 ? both & 0xfU : both >> 4U) - 8);
  }
  return {};
}

Result<void> StoredRows::check_scale(const WeightRows::Part& part, std::size_t row,
                                     std::size_t group, float scale) const {
  const bool int4 = mode_.group != 0;
  if (!std::isfinite(scale)) return wrong(*part.scales, row, group, "is not finite");
  if (scale < 0 && !(int4 && mode_.signed_scales))
    return wrong(*part.scales, row, group, "is negative");
  if (int4 && stored_int4_scale(scale) != scale)
    return wrong(*part.scales, row, group, "is no bfloat16 of at least 2^-100");
  return {};
}

Result<void> StoredRows::check_values(const WeightRows::Part& part, std::size_t row,
                                      const float* scales, const std::int8_t* values) const {
  const bool float8 = mode_.linear == AXLE_A16F8;
  const bool int4 = mode_.group != 0;
  for (std::size_t g = 0; g < groups_; ++g) {
    bool all_zero = true;
    bool in_range = true;
    for (std::size_t i = g * group_; i < columns_ && i < (g + 1) * group_; ++i) {
      const std::uint8_t bits = static_cast<std::uint8_t>(values[i]);
      all_zero = all_zero && (float8 ? (bits & 0x7fU) == 0 : bits == 0);
      in_range = in_range && (float8 ? !is_nan_float8(bits) : int4 || values[i] != -128);
    }
    if (!in_range)
      return wrong(*part.tensor, row, g,
                   float8 ? "a weight is not finite" : "a weight is -128; they are -127 to 127");
    if (scales[g] == 0 && !all_zero)
      return wrong(*part.scales, row, g, "is zero, but its weights are not");
  }
  return {};
}

std::unexpected<Failure> StoredRows::wrong(const Tensor& tensor, std::size_t row, std::size_t group,
                                           const char* what) const {
  return failure(AXLE_MALFORMED,
                 "%s: tensor \"%s\": row %zu, group %zu: %s; quantise the model again",
                 weights_->where().c_str(), tensor.name.c_str(), row, group, what);
}

}  // namespace axle::runtime
