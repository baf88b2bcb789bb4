// The parts of models that have no weights.
#include <cmath>

#include <doctest/doctest.h>

#include "runtime/half.h"
#include "runtime/model/layers/elementary.h"
#include "runtime/model/layers/key_value_cache.h"
#include "runtime/model/layers/rotary.h"

namespace axle::runtime {

TEST_CASE("elementary functions beside the C library's") {
  for (int i = -3000; i <= 3000; ++i) {
    const double x = i * 0.0317;
    CHECK(exponential(x) == doctest::Approx(std::exp(x)).epsilon(1e-14));
    const double positive = std::exp(x / 4);
    CHECK(std::abs(logarithm(positive) - std::log(positive)) <
          1e-15 * (1 + std::abs(std::log(positive))));
    const double angle = i * 331.7;
    const SineAndCosine at = sine_and_cosine(angle);
    CHECK(std::abs(at.sine - std::sin(angle)) < 1e-14);
    CHECK(std::abs(at.cosine - std::cos(angle)) < 1e-14);
    const SineAndCosine small = sine_and_cosine(x / 50);
    CHECK(std::abs(small.sine - std::sin(x / 50)) < 4e-16);
  }
  CHECK(logarithm(1) == 0);
  CHECK(exponential(0) == 1);
  CHECK(power(10000, -0.25) == doctest::Approx(0.1).epsilon(1e-14));
}

TEST_CASE("llama3 scaling keeps short waves and stretches long ones") {
  RotaryShape shape;
  shape.theta = 500000;
  shape.scaling = RotaryShape::Scaling::llama3;
  shape.factor = 32;
  shape.low_frequency_factor = 1;
  shape.high_frequency_factor = 4;
  shape.original_context = 8192;
  const Rotary rotary(shape, 64, {});
  float cosines[32];
  float sines[32];
  rotary.angles(1, cosines, sines);
  for (std::size_t i = 0; i < 32; ++i) {
    const double frequency = std::pow(500000, -static_cast<double>(i) / 32);
    const double wave = 2 * 3.14159265358979 / frequency;
    const double smooth = (8192 / wave - 1) / 3;
    const double scaled = wave < 2048   ? frequency
                          : wave > 8192 ? frequency / 32
                                        : (1 - smooth) * frequency / 32 + smooth * frequency;
    CHECK(std::abs(static_cast<double>(sines[i]) - std::sin(scaled)) < 1e-7);
  }
  const Rotary factors(RotaryShape{}, 16, std::vector<float>(8, 2.0F));
  factors.angles(3, cosines, sines);
  CHECK(std::abs(static_cast<double>(cosines[0]) - std::cos(1.5)) < 1e-7);
}

TEST_CASE("16-bit floats come back as they were, and others go to the nearest, ties to even") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_from_float16(half);
    if (std::isnan(value)) {
      CHECK(std::isnan(float_from_float16(float16_from_float(value))));
    } else {
      CHECK(float16_from_float(value) == half);
    }
    const float wide = float_from_bfloat16(half);
    if (!std::isnan(wide)) CHECK(bfloat16_from_float(wide) == half);
    // Half way to the next number, and a little more and less than that.
    const float next = float_from_float16(static_cast<std::uint16_t>(half + 1));
    if ((half & 0x7fffU) >= 0x7bff) continue;
    const float middle = (value + next) / 2;
    CHECK(float16_from_float(middle) == (half % 2 == 0 ? half : half + 1));
    CHECK(float16_from_float(std::nextafterf(middle, value)) == half);
    CHECK(float16_from_float(std::nextafterf(middle, next)) == half + 1);
  }
  CHECK(float16_from_float(65519.0F) == 0x7bff);
  CHECK(float16_from_float(65520.0F) == 0x7c00);
  CHECK(float16_from_float(-1e30F) == 0xfc00);
}

TEST_CASE(
    "a cache keeps what is stored, to the precision of its form, and nothing that is not finite") {
  for (const CacheForm form : {CacheForm::float32, CacheForm::float16, CacheForm::int8}) {
    PagePool pool({2, 3, 16, form});
    Sequence sequence(pool);
    REQUIRE(sequence.reserve(20).has_value());
    CHECK(sequence.pages() == 2);
    std::vector<float> key(16);
    for (std::size_t i = 0; i < 16; ++i) key[i] = static_cast<float>(i) - 7.25F;
    key[3] = std::nanf("");
    key[4] = -INFINITY;
    sequence.store_key(1, 2, 18, key.data());
    sequence.store_value(1, 2, 18, key.data());
    // Other forms have no scales behind their blocks.
    const bool scaled = form == CacheForm::int8;
    const float key_scale = scaled ? sequence.key_scales(1, 1, 2)[2] : 1;
    const float value_scale = scaled ? sequence.value_scales(1, 1, 2)[2] : 1;
    const auto element = [&](const void* block, std::size_t at, float scale) {
      if (form == CacheForm::float32) return static_cast<const float*>(block)[at];
      if (form == CacheForm::float16)
        return float_from_float16(static_cast<const std::uint16_t*>(block)[at]);
      return static_cast<float>(static_cast<const std::int8_t*>(block)[at]) * scale;
    };
    for (std::size_t i = 0; i < 16; ++i) {
      const double wanted = i == 3 || i == 4 ? 0 : static_cast<double>(i) - 7.25;
      const double error = form == CacheForm::int8 ? 7.75 / 254 + 1e-6 : 0;
      CHECK(std::abs(static_cast<double>(element(sequence.keys(1, 1, 2), i * 16 + 2, key_scale)) -
                     wanted) <= error);
      CHECK(
          std::abs(static_cast<double>(element(sequence.values(1, 1, 2), 2 * 16 + i, value_scale)) -
                   wanted) <= error);
    }
    // Neighbours are untouched.
    CHECK(element(sequence.keys(1, 1, 2), 3, 1) == 0);
    CHECK(element(sequence.keys(1, 0, 2), 2, 1) == 0);
    CHECK(element(sequence.values(1, 1, 2), 16, 1) == 0);
    const void* const page = sequence.keys(0, 0, 0);
    sequence.clear();
    Sequence other(pool);
    REQUIRE(other.reserve(17).has_value());
    CHECK((other.keys(0, 0, 0) == page || other.keys(1, 0, 0) == page));
  }
}

TEST_CASE("a head of next to nothing is stored as nothing") {
  PagePool pool({1, 1, 16, CacheForm::int8});
  Sequence sequence(pool);
  REQUIRE(sequence.reserve(1).has_value());
  std::vector<float> key(16, 0.0F);
  key[1] = 1e-45F;  // 127 divided by it is infinite
  key[2] = -1e-38F;
  sequence.store_key(0, 0, 0, key.data());
  CHECK(sequence.key_scales(0, 0, 0)[0] == 0);
  for (std::size_t i = 0; i < 16; ++i)
    CHECK(static_cast<const std::int8_t*>(sequence.keys(0, 0, 0))[i * page_positions] == 0);
}

}  // namespace axle::runtime
