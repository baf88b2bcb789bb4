#pragma once
// Elementary functions in double with the same bits on every machine: a C library picks other code
// for CPUs with fused multiply-add, and a model's angles must not depend on it.

namespace axle::runtime {

/// e^x to some units in the last place; x in [-700, 700].
[[nodiscard]] double exponential(double x);

/// The natural logarithm; x > 0 and not subnormal.
[[nodiscard]] double logarithm(double x);

/// base^exponent for base > 0.
[[nodiscard]] double power(double base, double exponent);

struct SineAndCosine {
  double sine;
  double cosine;
};

/// For |angle| up to 2^20, to 1e-15.
[[nodiscard]] SineAndCosine sine_and_cosine(double angle);

}  // namespace axle::runtime
