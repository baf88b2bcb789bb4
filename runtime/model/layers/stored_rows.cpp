#include "runtime/model/layers/stored_rows.h"

#include <cmath>

#include "runtime/quantize/float8.h"
#include "runtime/quantize/int4.h"

namespace axle::runtime {
namespace {

bool is_known_group(std::size_t group) { return group == 32 || group == 64 || group == 128; }

/// Takes the rows of one tensor over.
class PartReader {
 public:
  PartReader(const WeightRows& weights, const WeightRows::Part& part, const ModelMode& mode)
      : weights_(weights), part_(part), mode_(mode), columns_(weights.columns()) {
    group_ = mode.group != 0 ? mode.group : columns_;
    groups_ = (columns_ + group_ - 1) / group_;
  }

  Result<void> read(std::int8_t* values, std::vector<float>& scales) const {
    std::vector<float> own(groups_);
    const std::size_t bytes = part_.tensor->shape.back();
    for (std::size_t row = 0; row < part_.tensor->shape.front(); ++row, values += columns_) {
      read_scales(row, own.data());
      take_values(part_.tensor->data.data() + row * bytes, values);
      for (std::size_t g = 0; g < groups_; ++g) {
        const std::size_t first = g * group_;
        const std::size_t count = columns_ - first < group_ ? columns_ - first : group_;
        const Result<void> checked = check(values + first, count, own[g], row, g);
        if (!checked) return checked;
      }
      scales.insert(scales.end(), own.begin(), own.end());
    }
    return {};
  }

 private:
  /// Scales of a row each are a vector, which has one row.
  void read_scales(std::size_t row, float* to) const {
    Tensor rows = *part_.scales;
    rows.shape = {part_.tensor->shape.front(), groups_};
    read_rows(rows, row, 1, to);
  }

  void take_values(const std::byte* from, std::int8_t* to) const {
    if (mode_.group == 0) {
      std::memcpy(to, from, columns_);
      return;
    }
    for (std::size_t i = 0; i < columns_; ++i) {
      const unsigned both = static_cast<unsigned>(from[i / 2]);
      to[i] = static_cast<std::int8_t>(static_cast<int>(i % 2 == 0 ? both & 0xfU : both >> 4U) - 8);
    }
  }

  [[nodiscard]] Result<void> check(const std::int8_t* values, std::size_t count, float scale,
                                   std::size_t row, std::size_t group) const {
    const bool float8 = mode_.linear == AXLE_A16F8;
    const bool int4 = mode_.group != 0;
    bool all_zero = true;
    bool in_range = true;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t bits = static_cast<std::uint8_t>(values[i]);
      all_zero = all_zero && (float8 ? (bits & 0x7fU) == 0 : bits == 0);
      in_range = in_range && (float8 ? !is_nan_float8(bits) : int4 || values[i] != -128);
    }
    if (!in_range)
      return wrong(part_.tensor->name, row, group,
                   float8 ? "a weight is not finite" : "a weight is -128; they are -127 to 127");
    if (!std::isfinite(scale)) return wrong(part_.scales->name, row, group, "is not finite");
    if (scale < 0 && !(int4 && mode_.signed_scales))
      return wrong(part_.scales->name, row, group, "is negative");
    if (int4 && stored_int4_scale(scale) != scale)
      return wrong(part_.scales->name, row, group, "is no bfloat16 of at least 2^-100");
    if (scale == 0 && !all_zero)
      return wrong(part_.scales->name, row, group, "is zero, but its weights are not");
    return {};
  }

  [[nodiscard]] std::unexpected<Failure> wrong(const std::string& tensor, std::size_t row,
                                               std::size_t group, const char* what) const {
    return failure(AXLE_MALFORMED,
                   "%s: tensor \"%s\": row %zu, group %zu: %s; quantise the model again",
                   weights_.where().c_str(), tensor.c_str(), row, group, what);
  }

  const WeightRows& weights_;
  const WeightRows::Part& part_;
  const ModelMode& mode_;
  std::size_t columns_;
  std::size_t group_;
  std::size_t groups_;
};

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

Result<StoredRows> read_stored_rows(const WeightRows& weights, const ModelMode& mode) {
  const std::size_t columns = weights.columns();
  StoredRows rows{Memory(weights.rows() * columns), {}};
  if (rows.values.data() == nullptr) return no_memory_for(weights);
  std::int8_t* to = rows.values.as<std::int8_t>();
  for (const WeightRows::Part& part : weights.parts()) {
    const Result<void> read = PartReader(weights, part, mode).read(to, rows.scales);
    if (!read) return std::unexpected(read.error());
    to += part.tensor->shape.front() * columns;
  }
  return rows;
}

}  // namespace axle::runtime
