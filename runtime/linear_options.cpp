// What may be said in axle_linear_options, and what is meant by it.

#include "runtime/linear.h"
#include "runtime/quantize/int4.h"
#include "runtime/quantize/rounding.h"

namespace axle::runtime {
namespace {

constexpr std::uint32_t infinity_bits = 0x7f800000;

bool all_finite(const float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if ((bits_of_float(values[i]) & infinity_bits) == infinity_bits) return false;
  }
  return true;
}

bool is_int4(axle_mode mode) { return mode == AXLE_A16W4 || mode == AXLE_DA8W4; }

axle_status check_shape(const axle_linear_options& options, axle_error* error) {
  if (options.k == 0 || options.k > most_depth)
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          "k (input features) is %zu; it must be 1 to %zu", options.k, most_depth);
  if (options.n == 0 || options.n > SIZE_MAX / 16 / (options.k + largest_group))
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          "n (output features) is %zu; it must be at least 1 and fit memory",
                          options.n);
  return AXLE_OK;
}

axle_status check_types(const axle_linear_options& options, axle_error* error) {
  if (options.mode < AXLE_DA8W8 || options.mode > AXLE_A16F8)
    return report_failure(error, AXLE_BAD_ARGUMENT, "unknown mode %d", options.mode);
  const bool float8 = options.mode == AXLE_A16F8;
  if (options.weight_type != (float8 ? AXLE_FLOAT8 : AXLE_INT8) &&
      options.weight_type != AXLE_FLOAT32)
    return report_failure(error, AXLE_BAD_ARGUMENT, "weights must be %s or float32, not type %d",
                          float8 ? "float8" : "int8", options.weight_type);
  const bool given = options.weight_type != AXLE_FLOAT32;
  if (given != (options.scales != nullptr))
    return report_failure(
        error, AXLE_BAD_ARGUMENT,
        given ? "%s weights need scales" : "float32 weights are given without scales",
        float8 ? "float8" : "int8");
  if (options.reserved != 0)
    return report_failure(error, AXLE_BAD_ARGUMENT, "`reserved` is %d; it must be 0",
                          options.reserved);
  return AXLE_OK;
}

axle_status check_group(const axle_linear_options& options, axle_error* error) {
  const bool two_level = options.scaling == AXLE_TWO_LEVEL;
  const bool given = options.weight_type == AXLE_INT8;
  if (!is_int4(options.mode) &&
      (options.group != 0 || options.scaling != 0 || options.factors != nullptr))
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          "group, scaling and factors are for int4 weights; mode %d has others",
                          options.mode);
  if (options.scaling < AXLE_SEARCHED || options.scaling > AXLE_TWO_LEVEL)
    return report_failure(error, AXLE_BAD_ARGUMENT, "unknown scaling %d", options.scaling);
  if (given && options.scaling != AXLE_SEARCHED && !two_level)
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          "scaling %d is for float32 weights; int8 weights have their scales",
                          options.scaling);
  const std::size_t group = options.group;
  if (group != 0 && group != 32 && (two_level || (group != 64 && group != 128)))
    return report_failure(error, AXLE_BAD_ARGUMENT, "group is %zu; it must be %s", group,
                          two_level ? "32 with two levels of scales" : "32, 64 or 128");
  if ((given && two_level) != (options.factors != nullptr))
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          options.factors == nullptr
                              ? "int8 weights with two levels of scales need factors"
                              : "factors are for int8 weights with two levels of scales");
  return AXLE_OK;
}

std::size_t scale_count(const axle_linear_options& options) {
  if (weight_form(options) != WeightForm::int4) return options.n;
  const std::size_t group = group_of(options);
  return options.n * ((options.k + group - 1) / group);
}

axle_status check_values(const axle_linear_options& options, axle_error* error) {
  if (options.scales != nullptr) {
    const std::size_t count = scale_count(options);
    if (!all_finite(options.scales, count))
      return report_failure(error, AXLE_BAD_ARGUMENT, "a scale is not finite");
    for (std::size_t i = 0; weight_form(options) == WeightForm::int4 && i < count; ++i) {
      const float stored = stored_int4_scale(options.scales[i]);
      if (!all_finite(&stored, 1))
        return report_failure(error, AXLE_BAD_ARGUMENT, "scale %zu is too large for bfloat16", i);
    }
  }
  if (options.bias != nullptr && !all_finite(options.bias, options.n))
    return report_failure(error, AXLE_BAD_ARGUMENT, "a bias is not finite");
  const std::size_t factors =
      options.factors == nullptr ? 0 : options.n * ((options.k + 31) / two_level_group);
  for (std::size_t i = 0; i < factors; ++i) {
    if (options.factors[i] < 1 || options.factors[i] > 15)
      return report_failure(error, AXLE_BAD_ARGUMENT, "factor %zu is %d; it must be 1 to 15", i,
                            options.factors[i]);
  }
  return AXLE_OK;
}

}  // namespace

WeightForm weight_form(const axle_linear_options& options) {
  if (options.mode == AXLE_A16F8) return WeightForm::float8;
  if (!is_int4(options.mode)) return WeightForm::int8;
  return options.scaling == AXLE_TWO_LEVEL ? WeightForm::two_level : WeightForm::int4;
}

std::size_t group_of(const axle_linear_options& options) {
  if (options.group != 0) return options.group;
  return options.scaling == AXLE_TWO_LEVEL ? two_level_group : largest_group;
}

axle_status check(const axle_linear_options& options, axle_error* error) {
  for (const auto part : {check_types, check_shape, check_group, check_values}) {
    const axle_status status = part(options, error);
    if (status != AXLE_OK) return status;
  }
  return AXLE_OK;
}

}  // namespace axle::runtime
