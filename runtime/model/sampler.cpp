#include "runtime/model/sampler.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cstring>
#include <functional>
#include <limits>

#include "runtime/model/layers/elementary.h"

namespace axle::runtime {
namespace {

constexpr std::size_t at_once = 4;
using Floats [[gnu::vector_size(16)]] = float;
using Ints [[gnu::vector_size(16)]] = std::int32_t;

constexpr std::size_t part_size = 128;
constexpr double unit = 0x1p40;    // of the likeliest token's weight
constexpr double weightless = 41;  // 2^-41 is less than a step of weights

float largest_of(std::span<const float> values) {
  Floats most = Floats{} + values.front();
  std::size_t i = 0;
  for (; i + at_once <= values.size(); i += at_once) {
    Floats own;
    std::memcpy(&own, values.data() + i, sizeof own);
    most = own > most ? own : most;
  }
  float largest = values.front();
  for (std::size_t lane = 0; lane < at_once; ++lane) largest = std::max(largest, most[lane]);
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

std::span<const float> part_of(std::span<const float> logits, std::size_t part) {
  const std::size_t from = part * part_size;
  return logits.subspan(from, std::min(part_size, logits.size() - from));
}

/// Never -0: their bits are ordered as they are.
Floats distances_of(Floats logits, float largest) {
  const Floats distances = largest - logits;
  return distances > 0.0F ? distances : Floats{};
}

/// `take(first, distances)` for four logits after four; after the last there are infinities.
template <class Take>
void for_each_four(std::span<const float> logits, float largest, const Take& take) {
  std::size_t i = 0;
  Floats own;
  for (; i + at_once <= logits.size(); i += at_once) {
    std::memcpy(&own, logits.data() + i, sizeof own);
    take(i, distances_of(own, largest));
  }
  if (i == logits.size()) return;
  own = Floats{} - std::numeric_limits<float>::infinity();
  std::memcpy(&own, logits.data() + i, (logits.size() - i) * sizeof(float));
  take(i, distances_of(own, largest));
}

/// 2^(40 - distance * rate), by the polynomial of Cephes' exp2f.
Floats weights_of(Floats distances, float rate) {
  Floats y = distances * rate;
  y = y < 64.0F ? y : Floats{} + 64.0F;  // also where an infinity meets a rate of zero
  const Ints whole = __builtin_convertvector(y + 0.5F, Ints);
  const Floats x = __builtin_convertvector(whole, Floats) - y;
  Floats sum = x * 1.535336188319500e-4F + 1.339887440266574e-3F;
  sum = sum * x + 9.618437357674640e-3F;
  sum = sum * x + 5.550332471162809e-2F;
  sum = sum * x + 2.402264791363012e-1F;
  sum = sum * x + 6.931472028550421e-1F;
  sum = sum * x + 1.0F;
  const Ints bits = (127 + 40 - whole) << 23;
  Floats power;
  std::memcpy(&power, &bits, sizeof power);
  return sum * power;
}

std::uint64_t whole_steps(float weight) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(weight));
}

/// A distance beyond which all weigh less than `part` of the likeliest, if only just.
float reach_of_part(double part, float rate) {
  constexpr double ln2 = 0.693147180559945309;
  double halvings = weightless;
  if (part > 1e-30) halvings = std::min(halvings, 0.001 - 1.00001 * logarithm(part) / ln2);
  return static_cast<double>(rate) * FLT_MAX <= halvings
             ? FLT_MAX
             : static_cast<float>(halvings / static_cast<double>(rate));
}

}  // namespace

/// SplitMix64 (Steele, Lea and Flood 2014): the upper 53 bits, in [0, 1).
double Sampler::uniform() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

std::uint64_t Sampler::random_below(std::uint64_t total) {
  const double drawn = uniform() * static_cast<double>(total);
  return std::min(static_cast<std::uint64_t>(drawn), total - 1);
}

Sampler::Scale Sampler::measure(std::span<const float> logits) {
  constexpr double log2_e = 1.44269504088896341;
  parts_.resize((logits.size() + part_size - 1) / part_size);
  float largest = logits.front();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].largest = largest_of(part_of(logits, i));
    largest = std::max(largest, parts_[i].largest);
  }
  const double rate = std::min(log2_e / sampling_.temperature, static_cast<double>(FLT_MAX));
  return {largest, static_cast<float>(rate)};
}

/// The weights of the parts; returns their sum.
std::uint64_t Sampler::weigh_all(std::span<const float> logits, const Scale& scale) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    std::uint64_t sum = 0;
    for_each_four(part_of(logits, i), scale.largest, [&](std::size_t, Floats distances) {
      const Floats weights = weights_of(distances, scale.rate);
      sum += whole_steps(weights[0]) + whole_steps(weights[1]) + whole_steps(weights[2]) +
             whole_steps(weights[3]);
    });
    parts_[i].weight = sum;
    total += sum;
  }
  return total;
}

std::int32_t Sampler::draw_of_all(std::span<const float> logits, const Scale& scale) {
  std::uint64_t left = random_below(weigh_all(logits, scale));
  std::size_t part = 0;
  while (left >= parts_[part].weight) left -= parts_[part++].weight;
  std::size_t drawn = 0;
  bool found = false;
  for_each_four(part_of(logits, part), scale.largest, [&](std::size_t first, Floats distances) {
    const Floats weights = weights_of(distances, scale.rate);
    for (std::size_t lane = 0; lane < at_once && !found; ++lane) {
      const std::uint64_t weight = whole_steps(weights[lane]);
      found = left < weight;
      if (found)
        drawn = first + lane;
      else
        left -= weight;
    }
  });
  return static_cast<std::int32_t>(part * part_size + drawn);
}

/// That of the likeliest token of the top_k-th part: so many tokens are at least as near.
float Sampler::reach_of_top_k(const Scale& scale) const {
  if (sampling_.top_k > parts_.size()) return FLT_MAX;
  std::vector<float> largest(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) largest[i] = parts_[i].largest;
  const auto last = largest.begin() + static_cast<std::ptrdiff_t>(sampling_.top_k - 1);
  std::nth_element(largest.begin(), last, largest.end(), std::greater<>());
  return scale.largest - *last;
}

/// The candidates: all that are within `reach`, which is finite.
void Sampler::gather(std::span<const float> logits, const Scale& scale, float reach) {
  candidates_.clear();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (scale.largest - parts_[i].largest > reach) continue;
    for_each_four(part_of(logits, i), scale.largest, [&](std::size_t first, Floats distances) {
      const Ints inside = distances <= reach;
      std::array<std::uint64_t, 2> any;
      std::memcpy(any.data(), &inside, sizeof any);
      if ((any[0] | any[1]) == 0) return;
      const Floats weights = weights_of(distances, scale.rate);
      for (std::size_t lane = 0; lane < at_once; ++lane) {
        if (inside[lane] == 0) continue;
        candidates_.push_back({static_cast<std::int32_t>(i * part_size + first + lane),
                               distances[lane], whole_steps(weights[lane])});
      }
    });
  }
}

/// Of the weight of all; at least one step, so that the likeliest stays.
std::uint64_t Sampler::kept_by_top_p(std::uint64_t total) const {
  const double part = std::clamp(sampling_.top_p, 0.0, 1.0) * static_cast<double>(total);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(part), 1, total);
}

std::uint64_t Sampler::weight_of_candidates() const {
  std::uint64_t total = 0;
  for (const Candidate& one : candidates_) total += one.weight;
  return total;
}

/// Keeps of the candidates the first of the order whose amounts add up to `needed`, which is 1 to
/// the sum of all. The bits of a distance are ordered as it is: the last kept is found by sums over
/// 11, then 10, then 10 of them.
template <class Amount>
void Sampler::keep_first(std::uint64_t needed, const Amount& amount_of) {
  const auto key_of = [](const Candidate& one) {
    std::uint32_t key = 0;
    std::memcpy(&key, &one.distance, sizeof key);
    return key;
  };
  std::uint32_t last = 0;
  std::array<std::uint64_t, 2048> sums;
  for (const unsigned shift : {20U, 10U, 0U}) {
    const unsigned bits = shift == 20 ? 11 : 10;
    sums.fill(0);
    for (const Candidate& one : candidates_) {
      const std::uint32_t own = key_of(one) >> shift;
      if (own >> bits == last) sums[own - (last << bits)] += amount_of(one);
    }
    std::uint32_t bucket = 0;
    while (sums[bucket] < needed) needed -= sums[bucket++];
    last = (last << bits) + bucket;
  }
  std::size_t count = 0;
  for (const Candidate& one : candidates_) {
    const std::uint32_t key = key_of(one);
    if (key > last || (key == last && needed == 0)) continue;
    if (key == last) needed -= std::min(needed, amount_of(one));
    candidates_[count++] = one;
  }
  candidates_.resize(count);
}

/// How far a token may be that the filters can keep: the nearer, the fewer candidates there are.
/// `needed` is what top_p keeps of all, if there is no top_k.
float Sampler::reach_of_filters(std::span<const float> logits, const Scale& scale,
                                std::uint64_t& needed) {
  if (has_top_k(logits)) return std::min(reach_of_top_k(scale), reach_of_part(0, scale.rate));
  if (!(sampling_.top_p < 1)) return reach_of_part(sampling_.min_p, scale.rate);
  const std::uint64_t total = weigh_all(logits, scale);
  needed = kept_by_top_p(total);
  // All that weigh less than this are together less than what top_p leaves out.
  const double least = static_cast<double>(total - needed) / static_cast<double>(logits.size());
  return reach_of_part(least / unit, scale.rate);
}

void Sampler::filter(std::span<const float> logits, const Scale& scale) {
  std::uint64_t needed = 0;
  gather(logits, scale, reach_of_filters(logits, scale, needed));
  if (has_top_k(logits)) {
    keep_first(std::min(sampling_.top_k, candidates_.size()),
               [](const Candidate&) { return std::uint64_t{1}; });
    needed = kept_by_top_p(weight_of_candidates());
  }
  if (sampling_.top_p < 1) keep_first(needed, [](const Candidate& one) { return one.weight; });
  const double least = std::min(sampling_.min_p, 1.0) * unit;
  std::erase_if(candidates_,
                [&](const Candidate& one) { return static_cast<double>(one.weight) < least; });
}

std::int32_t Sampler::pick(std::span<const float> logits) {
  if (!(sampling_.temperature > 0)) return static_cast<std::int32_t>(index_of_largest(logits));
  const Scale scale = measure(logits);
  if (!has_top_k(logits) && !(sampling_.top_p < 1) && !(sampling_.min_p > 0))
    return draw_of_all(logits, scale);
  filter(logits, scale);
  std::uint64_t left = random_below(weight_of_candidates());
  for (const Candidate& one : candidates_) {
    if (left < one.weight) return one.token;
    left -= one.weight;
  }
  return candidates_.back().token;
}

}  // namespace axle::runtime
