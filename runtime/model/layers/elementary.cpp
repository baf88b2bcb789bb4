#include "runtime/model/layers/elementary.h"

#include <cstdint>
#include <cstring>

namespace axle::runtime {
namespace {

// pi / 2 and ln 2 in two parts (as fdlibm has them): whole multiples of the first are exact.
constexpr double half_pi = 1.57079632673412561417e+00;
constexpr double half_pi_rest = 6.07710050650619224932e-11;
constexpr double ln2 = 6.93147180369123816490e-01;
constexpr double ln2_rest = 1.90821492927058770002e-10;

/// To the nearest whole number, for |x| < 2^51.
double round_to_whole(double x) {
  constexpr double shift = 6755399441055744.0;
  const volatile double shifted = x + shift;
  return shifted - shift;
}

double power_of_two(std::int64_t exponent) {
  const std::uint64_t bits = static_cast<std::uint64_t>(exponent + 1023) << 52U;
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// sin r for |r| <= pi / 4, by Taylor's series.
double small_sine(double r) {
  const double square = r * r;
  double sum = 1;
  for (int i = 16; i >= 2; i -= 2) sum = 1 - square / (i * (i + 1)) * sum;
  return r * sum;
}

double small_cosine(double r) {
  const double square = r * r;
  double sum = 1;
  for (int i = 17; i >= 1; i -= 2) sum = 1 - square / (i * (i + 1)) * sum;
  return sum;
}

}  // namespace

double exponential(double x) {
  const double n = round_to_whole(x / (ln2 + ln2_rest));
  const double r = x - n * ln2 - n * ln2_rest;
  double sum = 1;
  for (int i = 14; i >= 1; --i) sum = 1 + r / i * sum;
  return sum * power_of_two(static_cast<std::int64_t>(n));
}

double logarithm(double x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  std::int64_t exponent = static_cast<std::int64_t>(bits >> 52U) - 1023;
  double mantissa = x / power_of_two(exponent);
  if (mantissa > 1.4142135623730951) {
    mantissa /= 2;
    ++exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  double sum = 0;
  for (int i = 25; i >= 1; i -= 2) sum = sum * (s * s) + 1.0 / i;
  const double whole = static_cast<double>(exponent);
  return whole * ln2 + (whole * ln2_rest + 2 * s * sum);
}

double power(double base, double exponent) { return exponential(exponent * logarithm(base)); }

SineAndCosine sine_and_cosine(double angle) {
  const double n = round_to_whole(angle / (half_pi + half_pi_rest));
  const double r = angle - n * half_pi - n * half_pi_rest;
  const double sine = small_sine(r);
  const double cosine = small_cosine(r);
  switch (static_cast<std::int64_t>(n) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

}  // namespace axle::runtime
