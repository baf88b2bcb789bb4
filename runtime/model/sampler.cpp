#include "runtime/model/sampler.h"

#include <algorithm>
#include <cstring>

#include "runtime/model/layers/elementary.h"

namespace axle::runtime {

/// SplitMix64 (Steele, Lea and Flood 2014): the upper 53 bits, in [0, 1).
double Sampler::uniform() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

/// The candidates, likeliest first; of equals the smaller token.
void Sampler::keep_likeliest(std::span<const float> logits) {
  candidates_.resize(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i)
    candidates_[i] = {static_cast<std::int32_t>(i), logits[i], 0};
  const auto likelier = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  const std::size_t count = sampling_.top_k > 0 && sampling_.top_k < candidates_.size()
                                ? sampling_.top_k
                                : candidates_.size();
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count),
                    candidates_.end(), likelier);
  candidates_.resize(count);
}

void Sampler::filter() {
  const double largest = static_cast<double>(candidates_.front().logit);
  double total = 0;
  for (Candidate& one : candidates_) {
    const double difference = (static_cast<double>(one.logit) - largest) / sampling_.temperature;
    one.probability = difference < -600 ? 0 : exponential(difference);
    total += one.probability;
  }
  std::size_t count = 0;
  double sum = 0;
  const double least = sampling_.min_p * candidates_.front().probability;
  while (count < candidates_.size()) {
    if (count > 0 && (sum >= sampling_.top_p * total || candidates_[count].probability < least))
      break;
    sum += candidates_[count].probability;
    ++count;
  }
  candidates_.resize(count);
}

namespace {

float largest_of(std::span<const float> values) {
  using Floats [[gnu::vector_size(16)]] = float;
  constexpr std::size_t lanes = 4;
  Floats most = Floats{} + values.front();
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes) {
    Floats own;
    std::memcpy(&own, values.data() + i, sizeof own);
    most = own > most ? own : most;
  }
  float largest = values.front();
  for (std::size_t lane = 0; lane < lanes; ++lane) largest = std::max(largest, most[lane]);
  for (; i < values.size(); ++i) largest = std::max(largest, values[i]);
  return largest;
}

/// The first of the largest. All other threads wait for it.
std::size_t index_of_largest(std::span<const float> values) {
  constexpr std::size_t part = 256;
  std::size_t best = 0;  // where the part with it begins
  float largest = values.front();
  for (std::size_t i = 0; i < values.size(); i += part) {
    const float own = largest_of(values.subspan(i, std::min(part, values.size() - i)));
    if (own <= largest) continue;
    largest = own;
    best = i;
  }
  while (values[best] != largest) ++best;
  return best;
}

}  // namespace

std::int32_t Sampler::pick(std::span<const float> logits) {
  if (sampling_.temperature <= 0) return static_cast<std::int32_t>(index_of_largest(logits));
  keep_likeliest(logits);
  filter();
  double total = 0;
  for (const Candidate& one : candidates_) total += one.probability;
  double left = uniform() * total;
  for (const Candidate& one : candidates_) {
    left -= one.probability;
    if (left < 0) return one.token;
  }
  return candidates_.front().token;
}

}  // namespace axle::runtime
