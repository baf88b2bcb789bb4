#pragma once
// The next token by its logits.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace axle::runtime {

/// The filters apply in the order of the members, as transformers' processors do.
struct Sampling {
  double temperature =
      0;  ///< 0: the largest logit, of equals the first; the rest counts for nothing
  std::size_t top_k = 0;   ///< only so many of the likeliest; 0: all
  double top_p = 1;        ///< the likeliest whose probabilities first add up to this
  double min_p = 0;        ///< at least this part of the likeliest one's probability
  std::uint64_t seed = 0;  ///< the same seed, the same tokens on every machine
};

class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : sampling_(sampling), state_(sampling.seed) {}

  /// `logits` are finite.
  [[nodiscard]] std::int32_t pick(std::span<const float> logits);

 private:
  struct Candidate {
    std::int32_t token;
    float logit;
    double probability;
  };

  [[nodiscard]] double uniform();
  void keep_likeliest(std::span<const float> logits);
  void filter();

  Sampling sampling_;
  std::uint64_t state_;
  std::vector<Candidate> candidates_;
};

}  // namespace axle::runtime
