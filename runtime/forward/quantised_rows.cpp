#include "runtime/forward/quantised_rows.h"

#include <cstring>

namespace axle::runtime {
namespace {

constexpr std::size_t row_multiple = 16;
/// Tiles of 4-bit weights may begin with any row and read so many beyond the last.
constexpr std::size_t rows_read_beyond = 32;

constexpr std::uint32_t infinity_bits = 0x7f800000;
constexpr std::uint32_t negligible_bits = (127U - 100U) << 23U;  ///< 2^-100

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::size_t value_size(WeightForm weights, const KernelSet& set) {
  if (weights == WeightForm::float8) return set.narrow->f8_bytes;
  return bytes_of(weights == WeightForm::int4 ? set.narrow->form : set.form);
}

}  // namespace

QuantisedRows::QuantisedRows(const RowForm& form, const KernelSet& set)
    : form_(form),
      set_(set),
      element_bytes_(value_size(form.weights, set)),
      row_bytes_(form.padded_k * element_bytes_ + row_gap) {}

std::size_t QuantisedRows::value_bytes(std::size_t rows) const {
  const std::size_t beyond = form_.weights == WeightForm::int4 ? rows_read_beyond : 0;
  return (round_up(rows * form_.planes, row_multiple) + beyond) * row_bytes_;
}

/// Of what a row has beside its values: its scale, and an offset for each group.
std::size_t QuantisedRows::side_bytes(std::size_t rows) const {
  return round_up(rows * (sizeof(float) + groups() * sizeof(std::int32_t)), 64);
}

void QuantisedRows::place(char* memory, std::size_t rows) {
  rows_ = rows;
  values_ = memory;
  scales_ = reinterpret_cast<float*>(memory + value_bytes(rows));
  offsets_ = reinterpret_cast<std::int32_t*>(scales_ + rows);
}

/// As padded floats: in place where it can be read so, else in `own`.
const float* QuantisedRows::padded_row(const RowSource& source, std::size_t r, float* own) const {
  const bool as_it_is = source.kind == RowSource::Kind::stored && source.type == AXLE_FLOAT32;
  if (as_it_is && form_.k == form_.padded_k)
    return static_cast<const float*>(source.x) + r * form_.k;
  make_row(source, *set_.model, r, form_.k, own);
  std::memset(own + form_.k, 0, (form_.padded_k - form_.k) * sizeof(float));
  return own;
}

void QuantisedRows::quantise(std::size_t r, const RowSource& source, std::size_t from,
                             float* own) const {
  const float* row = padded_row(source, from, own);
  const std::uint32_t bits = set_.largest_magnitude(row, form_.padded_k);
  const bool counts = bits >= negligible_bits && bits < infinity_bits;
  if (!counts) {
    std::memset(own, 0, form_.padded_k * sizeof(float));
    row = own;
  }
  if (form_.weights == WeightForm::float8) {
    scale_to_bfloat16(r, row, counts ? bits : 0);
  } else {
    quantise_whole(r, row, counts ? bits : 0);
  }
  // Something not finite: a row of zeros with a scale that makes NaN of them.
  if (bits >= infinity_bits) scales_[r] = __builtin_nanf("");
}

/// To whole numbers. `largest_bits` of the largest magnitude, 0: nothing.
void QuantisedRows::quantise_whole(std::size_t r, const float* row,
                                   std::uint32_t largest_bits) const {
  const float steps = form_.planes == 2 ? 32512.0F : 127.0F;
  float largest = 0;
  std::memcpy(&largest, &largest_bits, 4);
  const float inverse = largest_bits == 0 ? 0 : steps / largest;
  scales_[r] = largest / steps;
  char* const high = values_ + r * row_bytes_;
  char* const low = form_.planes == 2 ? values_ + (rows_ + r) * row_bytes_ : nullptr;
  if (form_.weights == WeightForm::int4) {
    set_.narrow->quantise_w4({.x = row,
                              .count = form_.padded_k,
                              .inverse_scale = inverse,
                              .group = form_.group,
                              .high = high,
                              .low = low,
                              .offsets = offsets_ + r * groups()});
  } else {
    set_.quantise(row, form_.padded_k, inverse, high, low);
  }
}

/// To x * 2^(120 - e), where the largest magnitude is in [2^e, 2^(e + 1)): float8 weights count
/// 2^-120 of their value. In two steps, since 2^(120 - e) may be beyond float.
void QuantisedRows::scale_to_bfloat16(std::size_t r, const float* row,
                                      std::uint32_t largest_bits) const {
  const std::uint32_t exponent = largest_bits == 0 ? 127 : largest_bits >> 23U;  // e + 127
  const std::uint32_t first_bits = (127U + 10U + 127U - exponent) << 23U;
  const std::uint32_t scale_bits = exponent << 23U;
  float first = 0;
  std::memcpy(&first, &first_bits, 4);
  std::memcpy(scales_ + r, &scale_bits, 4);
  set_.narrow->quantise_f8({.x = row,
                            .count = form_.padded_k,
                            .first = first,
                            .second = 0x1p110F,
                            .to = values_ + r * row_bytes_});
}

}  // namespace axle::runtime
