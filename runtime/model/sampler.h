#pragma once
// The next token by its logits.
//
// A token's distance is the largest logit minus its own, as a float. It weighs
// e^(-distance / temperature) to some 1e-6, in whole steps of 2^-40 (what is less weighs nothing):
// sums of weights are exact, and a seed gives the same tokens on every machine. Tokens are ordered
// by their distances, of equals the smaller token first.
//
// The filters apply one after another, as transformers' processors do: temperature, top_k, top_p
// over what top_k left, min_p. (llama.cpp filters first and divides by the temperature at the end.)
// The likeliest token always stays. Of those that stay one is drawn by its weight: the first, in
// the order of the token numbers, at which the sum of weights exceeds a random part of their total.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace axle::runtime {

struct Sampling {
  /// 0: the largest logit, of equals the first; the rest counts for nothing. 4e-39 is the least
  /// else.
  double temperature = 0;
  /// Only so many, the first of the order; 0: all. 1 is the same as temperature 0.
  std::size_t top_k = 0;
  /// The first of the order whose weights add up to this part of the total; 1: all, 0: one.
  double top_p = 1;
  /// Only what weighs at least this part of the likeliest; 1: only what weighs the same.
  double min_p = 0;
  std::uint64_t seed = 0;  ///< the same seed, the same tokens on every machine
};

class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : sampling_(sampling), state_(sampling.seed) {}

  /// `logits` are finite, 1 to 2^23 of them. The time is linear in their number, whatever they are.
  [[nodiscard]] std::int32_t pick(std::span<const float> logits);

 private:
  struct Candidate {
    std::int32_t token;
    float distance;
    std::uint64_t weight;
  };
  /// A stretch of the vocabulary.
  struct Part {
    float largest;
    std::uint64_t weight;
  };
  /// From distances to weights: 2^(-distance * rate).
  struct Scale {
    float largest;  ///< logit
    float rate;
  };

  [[nodiscard]] double uniform();
  [[nodiscard]] std::uint64_t random_below(std::uint64_t total);
  [[nodiscard]] Scale measure(std::span<const float> logits);
  [[nodiscard]] std::uint64_t weigh_all(std::span<const float> logits, const Scale& scale);
  [[nodiscard]] std::int32_t draw_of_all(std::span<const float> logits, const Scale& scale);
  [[nodiscard]] float reach_of_top_k(const Scale& scale) const;
  void gather(std::span<const float> logits, const Scale& scale, float reach);
  template <class Amount>
  void keep_first(std::uint64_t needed, const Amount& amount_of);
  [[nodiscard]] bool has_top_k(std::span<const float> logits) const {
    return sampling_.top_k > 0 && sampling_.top_k < logits.size();
  }
  [[nodiscard]] std::uint64_t kept_by_top_p(std::uint64_t total) const;
  [[nodiscard]] std::uint64_t weight_of_candidates() const;
  [[nodiscard]] float reach_of_filters(std::span<const float> logits, const Scale& scale,
                                       std::uint64_t& needed);
  void filter(std::span<const float> logits, const Scale& scale);

  Sampling sampling_;
  std::uint64_t state_;
  std::vector<Part> parts_;
  std::vector<Candidate> candidates_;  ///< in the order of their tokens
};

}  // namespace axle::runtime
