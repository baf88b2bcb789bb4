#include "runtime/half.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace axle::runtime;

/// A small binary float by its definition.
struct Form {
  const char* name;
  int exponent_bits;
  int fraction_bits;
  bool has_infinity;  ///< else the largest exponent is of numbers, all bits set of NaN (E4M3)
  float (*to_float)(std::uint32_t);
  std::uint32_t (*from_float)(float);

  [[nodiscard]] std::uint32_t sign() const { return 1U << (exponent_bits + fraction_bits); }

  /// The number with these bits, sign aside.
  [[nodiscard]] double value(std::uint32_t bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(bits >> fraction_bits);
    const double fraction = bits & ((1U << fraction_bits) - 1U);
    const bool last = exponent == (1 << exponent_bits) - 1;
    if (last && has_infinity)
      return fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
    if (bits == sign() - 1) return std::nan("");
    if (exponent == 0) return std::ldexp(fraction, 1 - bias - fraction_bits);
    return std::ldexp(1 + std::ldexp(fraction, -fraction_bits), exponent - bias);
  }
};

const Form forms[] = {
    {"float16", 5, 10, true,
     [](std::uint32_t bits) { return float_from_float16(static_cast<std::uint16_t>(bits)); },
     [](float value) -> std::uint32_t { return float16_from_float(value); }},
    {"bfloat16", 8, 7, true,
     [](std::uint32_t bits) { return float_from_bfloat16(static_cast<std::uint16_t>(bits)); },
     [](float value) -> std::uint32_t { return bfloat16_from_float(value); }},
    {"float8 e4m3", 4, 3, false,
     [](std::uint32_t bits) { return float_from_float8(static_cast<std::uint8_t>(bits)); },
     [](float value) -> std::uint32_t { return float8_from_float(value); }}};

TEST_CASE("every small float is the number of its definition, and comes back") {
  for (const Form& form : forms) {
    CAPTURE(form.name);
    for (std::uint32_t bits = 0; bits < form.sign(); ++bits) {
      const double wanted = form.value(bits);
      const float found = form.to_float(bits);
      const float negative = form.to_float(bits | form.sign());
      if (std::isnan(wanted)) {
        CHECK_UNARY(std::isnan(found) && std::isnan(negative));
        CHECK_UNARY(std::isnan(form.to_float(form.from_float(found))));
        continue;
      }
      if (static_cast<double>(found) != wanted || negative != -found ||
          form.from_float(found) != bits || form.from_float(negative) != (bits | form.sign()))
        FAIL("bits ", bits);
    }
  }
}

TEST_CASE("between two small floats the nearer one is taken, half way the even one") {
  for (const Form& form : forms) {
    CAPTURE(form.name);
    for (std::uint32_t bits = 0; bits + 1 < form.sign(); ++bits) {
      const double low = form.value(bits);
      double high = form.value(bits + 1);
      if (std::isnan(low) || std::isinf(low)) break;
      // What would follow the largest number stands for infinity, and for NaN.
      if (!std::isfinite(high)) high = low + (low - form.value(bits - 1));
      // Of the last step of bfloat16 this would be beyond float.
      const float middle = static_cast<float>(low + (high - low) / 2);
      const std::uint32_t even = bits + (bits & 1U);
      const bool right = form.from_float(middle) == even &&
                         form.from_float(std::nextafter(middle, 0.0F)) == bits &&
                         form.from_float(std::nextafter(middle, HUGE_VALF)) == bits + 1 &&
                         form.from_float(-middle) == (even | form.sign());
      if (!right) FAIL("bits ", bits, " middle ", middle);
    }
  }
}

TEST_CASE("what is beyond the largest small float is infinity, or NaN in E4M3") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {65520.0F, 1e10F, infinity}) {
    CHECK(float16_from_float(value) == 0x7c00);
    CHECK(float16_from_float(-value) == 0xfc00);
  }
  CHECK(float16_from_float(65519.99F) == 0x7bff);
  CHECK(bfloat16_from_float(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(bfloat16_from_float(-infinity) == 0xff80);
  CHECK(float8_from_float(464) == 0x7e);
  for (const float value : {464.1F, 480.0F, 1e10F, infinity}) {
    CHECK(float8_from_float(value) == 0x7f);
    CHECK(float8_from_float(-value) == 0xff);
  }
}

TEST_CASE("every NaN stays one") {
  for (const std::uint32_t bits :
       {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU, 0x7f801000U}) {
    const float value = float_of_bits(bits);
    for (const Form& form : forms) {
      CAPTURE(form.name);
      CHECK_UNARY(std::isnan(form.to_float(form.from_float(value))));
      CHECK((form.from_float(value) & form.sign()) == ((bits >> 31U) != 0 ? form.sign() : 0U));
    }
  }
}

}  // namespace
