#pragma once
// Which factors of input channels make the rounding of some linear layers cost least, measured on
// their outputs.

#include <cstddef>
#include <functional>
#include <vector>

#include "runtime/engine.h"
#include "runtime/model/quantization/calibration.h"
#include "runtime/model/quantization/linear_list.h"
#include "runtime/model/quantization/scheme.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Of a channel that factor which it has.
using Owner = std::function<std::size_t(std::size_t channel)>;

/// Of linear layers that share an input.
class FactorSearch {
 public:
  FactorSearch(Engine& engine, const QuantizationScheme& scheme, const Activations& x);

  /// Factors of columns; `owners` of them, channel i having that of `owner(i)`. They are told the
  /// layers, with what matters after them.
  [[nodiscard]] Result<std::vector<float>> find(const std::vector<LinearLayer*>& layers,
                                                std::size_t owners, const Owner& owner);

  /// Tells the layers what matters, without factors.
  void weigh(const std::vector<LinearLayer*>& layers) const;

 private:
  struct Candidate {
    std::vector<float> factors;
    std::vector<float> importance;
    double error = 0;
  };
  struct Moments {
    std::vector<float> magnitude;  ///< E|x| of a channel
    std::vector<float> square;     ///< E[x^2]
  };
  struct Scratch;

  [[nodiscard]] static Activations sample_of(const Activations& x);
  [[nodiscard]] static Moments moments_of(const Activations& x);
  void list_candidates(std::size_t owners, const Owner& owner);
  [[nodiscard]] Result<void> measure(const LinearLayer& layer);
  [[nodiscard]] double output_error(const Candidate& candidate, std::size_t count,
                                    Scratch& s) const;

  Engine& engine_;
  const QuantizationScheme& scheme_;
  Activations sample_;
  Moments moments_;
  std::vector<Candidate> candidates_;
};

}  // namespace axle::runtime
