#include "runtime/model/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace axle::runtime {
namespace {

/// The definition in sampler.h, by sorting and in double.
struct Reference {
  std::vector<double> weights;  ///< by token; zero: not kept
  double total = 0;
  bool doubtful = false;  ///< a filter ends so closely that rounding decides
};

constexpr double doubt = 1e-5;

Reference reference_of(const std::vector<float>& logits, const Sampling& sampling) {
  struct Token {
    std::size_t index;
    float distance;
    double weight;
  };
  const float largest = *std::max_element(logits.begin(), logits.end());
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float distance = largest - logits[i];
    tokens.push_back(
        {i, distance, std::exp(-static_cast<double>(distance) / sampling.temperature)});
  }
  std::sort(tokens.begin(), tokens.end(), [](const Token& a, const Token& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.index < b.index;
  });
  if (sampling.top_k > 0 && sampling.top_k < tokens.size()) tokens.resize(sampling.top_k);
  Reference result;
  result.weights.resize(logits.size());
  double all = 0;
  for (const Token& token : tokens) all += token.weight;
  double sum = 0;
  for (const Token& token : tokens) {
    const bool ends = sampling.top_p > 0 && sampling.top_p < 1;
    if (ends && std::abs(sum - sampling.top_p * all) < doubt * all) result.doubtful = true;
    if (sum > 0 && sampling.top_p < 1 && sum >= sampling.top_p * all) break;
    sum += token.weight;
    if (token.weight != sampling.min_p &&
        std::abs(token.weight - sampling.min_p) < doubt * sampling.min_p)
      result.doubtful = true;
    if (token.weight < sampling.min_p) continue;
    result.weights[token.index] = token.weight;
    result.total += token.weight;
  }
  return result;
}

/// SplitMix64's first number for a seed, in [0, 1).
double first_random(std::uint64_t seed) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

/// Nothing, if the random number falls so closely to a border of two tokens that rounding decides.
std::optional<std::int32_t> token_at(const Reference& reference, double random) {
  const double target = random * reference.total;
  double sum = 0;
  for (std::size_t i = 0; i < reference.weights.size(); ++i) {
    if (reference.weights[i] == 0) continue;
    sum += reference.weights[i];
    if (std::abs(sum - target) < doubt * reference.total && sum < reference.total)
      return std::nullopt;
    if (sum > target) return static_cast<std::int32_t>(i);
  }
  return std::nullopt;
}

/// Compares some draws; returns how many of them the reference can decide.
int compare(const std::vector<float>& logits, Sampling sampling, int draws) {
  const Reference reference = reference_of(logits, sampling);
  if (reference.doubtful) return 0;
  int decided = 0;
  for (int i = 0; i < draws; ++i) {
    ++sampling.seed;
    const std::optional<std::int32_t> right = token_at(reference, first_random(sampling.seed));
    if (!right) continue;
    ++decided;
    CAPTURE(logits.size());
    CAPTURE(sampling.temperature);
    CAPTURE(sampling.top_k);
    CAPTURE(sampling.top_p);
    CAPTURE(sampling.min_p);
    CAPTURE(sampling.seed);
    REQUIRE(Sampler(sampling).pick(logits) == *right);
  }
  return decided;
}

std::vector<float> normal_logits(std::size_t count, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> logits(count);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

/// `count` logits of every kind that may be unlike those of a model.
std::vector<std::vector<float>> kinds_of_logits(std::size_t count) {
  const unsigned seed = static_cast<unsigned>(count);
  std::vector<std::vector<float>> kinds{
      normal_logits(count, 3, seed), normal_logits(count, 1e-3F, seed),
      normal_logits(count, 1e20F, seed), std::vector<float>(count, 0.0F),
      std::vector<float>(count, -3e38F)};
  std::vector<float> few = kinds[0];
  for (float& logit : few) logit = std::floor(logit);
  std::vector<float> extreme = few;
  for (float& logit : extreme) logit = logit > 0 ? 3e38F : logit < -2 ? -3e38F : logit;
  std::vector<float> tiny = few;
  for (float& logit : tiny) logit *= std::numeric_limits<float>::denorm_min();
  std::vector<float> zeros(count, -0.0F);
  for (std::size_t i = 0; i < count; i += 3) zeros[i] = 0.0F;
  std::vector<float> one = few;
  one[count / 2] = 1000;
  for (auto* kind : {&few, &extreme, &tiny, &zeros, &one}) kinds.push_back(std::move(*kind));
  return kinds;
}

TEST_CASE("of equal largest logits the first is picked, wherever they are") {
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{3}, std::size_t{256}, std::size_t{1003}}) {
    std::vector<float> logits(count);
    for (std::size_t i = 0; i < count; ++i) logits[i] = -10 - static_cast<float>(i * 37 % 101);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t second = i + (count - i) / 2;
      std::vector<float> own = logits;
      own[i] = own[second] = i % 2 == 0 ? -1.0F : 7.5F;
      REQUIRE(Sampler({}).pick(own) == static_cast<std::int32_t>(i));
    }
    const std::vector<float> equal(count, -2.0F);
    CHECK(Sampler({}).pick(equal) == 0);
  }
  std::vector<float> zeros(600, -0.0F);
  zeros[500] = 0.0F;
  CHECK(Sampler({}).pick(zeros) == 0);
}

TEST_CASE("sampling keeps to its limits and to its seed") {
  const std::vector<float> logits{1, 3, 3, 2, -5, 0};
  CHECK(Sampler({}).pick(logits) == 1);
  const auto draw = [&](const Sampling& sampling, int count) {
    Sampler sampler(sampling);
    std::vector<int> seen(logits.size());
    for (int i = 0; i < count; ++i) ++seen[static_cast<std::size_t>(sampler.pick(logits))];
    return seen;
  };
  const std::vector<int> all = draw({.temperature = 1, .seed = 1}, 20000);
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit));
  for (std::size_t i = 0; i < logits.size(); ++i)
    CHECK(std::abs(all[i] / 20000.0 - std::exp(static_cast<double>(logits[i])) / total) < 0.015);
  CHECK(draw({.temperature = 1, .seed = 1}, 500) == draw({.temperature = 1, .seed = 1}, 500));
  CHECK(draw({.temperature = 1, .seed = 1}, 500) != draw({.temperature = 1, .seed = 2}, 500));
  const std::vector<int> two = draw({.temperature = 2, .top_k = 2, .seed = 3}, 1000);
  CHECK(two[1] + two[2] == 1000);
  CHECK(two[1] > 400);
  const std::vector<int> likely = draw({.temperature = 1, .top_p = 0.5, .seed = 4}, 1000);
  CHECK(likely[1] + likely[2] == 1000);
  const std::vector<int> sure = draw({.temperature = 1, .min_p = 0.3, .seed = 5}, 1000);
  CHECK(sure[1] + sure[2] + sure[3] == 1000);
  CHECK(sure[3] > 0);
  const std::vector<int> cold = draw({.temperature = 1e-6, .seed = 6}, 100);
  CHECK(cold[1] + cold[2] == 100);
}

TEST_CASE("what is kept and drawn is what sorting gives") {
  int decided = 0;
  int all = 0;
  for (const std::size_t count : {1U, 2U, 5U, 127U, 128U, 129U, 700U}) {
    for (const std::vector<float>& logits : kinds_of_logits(count)) {
      for (const double temperature : {1e-30, 1e-3, 0.8, 3.0, 1e10}) {
        for (const std::size_t top_k : {0U, 1U, 3U, 40U, 600U}) {
          for (const double top_p : {0.0, 0.31, 0.953, 1.0}) {
            for (const double min_p : {0.0, 0.057, 1.0}) {
              const Sampling sampling{temperature, top_k, top_p, min_p, 7 * count};
              decided += compare(logits, sampling, 4);
              all += 4;
            }
          }
        }
      }
    }
  }
  CHECK(decided > all * 9 / 10);
}

TEST_CASE("so it is in a large vocabulary") {
  for (const float deviation : {0.5F, 3.0F}) {
    std::vector<float> logits = normal_logits(128256, deviation, 3);
    for (std::size_t i = 0; i < 9; ++i) logits[i * 14000 + 5] = 14.0F - static_cast<float>(i);
    for (const double temperature : {0.8, 1.5}) {
      CHECK(compare(logits, {.temperature = temperature}, 100) > 10);
      CHECK(compare(logits, {.temperature = temperature, .top_k = 40}, 10) > 8);
      CHECK(compare(logits, {.temperature = temperature, .top_k = 5000}, 10) > 3);
      CHECK(compare(logits, {.temperature = temperature, .min_p = 0.02}, 10) > 8);
      CHECK(compare(logits, {.temperature = temperature, .top_k = 40, .top_p = 0.9}, 10) > 8);
    }
    // Where it ends among a hundred thousand is within what sums in float differ by.
    const Sampling sampling{.temperature = 0.8, .top_p = 0.95, .seed = 5};
    const Reference reference = reference_of(logits, sampling);
    Sampler sampler(sampling);
    for (int i = 0; i < 300; ++i)
      REQUIRE(reference.weights[static_cast<std::size_t>(sampler.pick(logits))] > 0);
  }
}

TEST_CASE("tokens are drawn as often as they weigh") {
  const std::vector<float> logits = normal_logits(300, 2, 11);
  constexpr int draws = 30000;
  for (const Sampling& sampling :
       {Sampling{.temperature = 1.3, .seed = 1},
        Sampling{.temperature = 0.8, .top_k = 50, .seed = 2},
        Sampling{.temperature = 1, .top_k = 200, .top_p = 0.9, .min_p = 0.01, .seed = 3}}) {
    const Reference reference = reference_of(logits, sampling);
    REQUIRE_FALSE(reference.doubtful);
    Sampler sampler(sampling);
    std::vector<int> seen(logits.size());
    for (int i = 0; i < draws; ++i) ++seen[static_cast<std::size_t>(sampler.pick(logits))];
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const double expected = draws * reference.weights[i] / reference.total;
      CHECK(std::abs(seen[i] - expected) <= 5 * std::sqrt(expected));
    }
  }
}

TEST_CASE("one token is left where the filters leave one") {
  for (const std::size_t count : {1U, 6U, 1000U}) {
    for (const std::vector<float>& logits : kinds_of_logits(count)) {
      const std::int32_t greedy = Sampler({}).pick(logits);
      for (const double temperature : {1e-320, 0.7, 1e300, HUGE_VAL}) {
        CHECK(Sampler({.temperature = temperature, .top_k = 1}).pick(logits) == greedy);
        CHECK(Sampler({.temperature = temperature, .top_p = 0}).pick(logits) == greedy);
      }
      const std::int32_t as_likely =
          Sampler({.temperature = 1, .min_p = 1, .seed = 9}).pick(logits);
      CHECK(std::abs(logits[static_cast<std::size_t>(as_likely)] -
                     logits[static_cast<std::size_t>(greedy)]) < 1e-6F);
    }
  }
  // Without bounds all are equal at an endless temperature.
  Sampler sampler({.temperature = HUGE_VAL});
  std::vector<int> seen(4);
  for (int i = 0; i < 4000; ++i)
    ++seen[static_cast<std::size_t>(sampler.pick(std::vector<float>{9, -1, 0, 4}))];
  for (const int times : seen) CHECK(std::abs(times - 1000) < 150);
}

TEST_CASE("a seed gives these tokens on every machine") {
  std::vector<float> logits(5003);
  for (std::size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(i * i * 2654435761U % 65536) / 8192;
  const auto tokens = [&](const Sampling& sampling) {
    Sampler sampler(sampling);
    std::vector<std::int32_t> drawn(6);
    for (std::int32_t& token : drawn) token = sampler.pick(logits);
    return drawn;
  };
  using Tokens = std::vector<std::int32_t>;
  CHECK(tokens({.temperature = 0.8, .seed = 1}) == Tokens{2938, 3853, 4878, 2371, 2367, 3900});
  CHECK(tokens({.temperature = 0.8, .top_k = 40, .seed = 2}) ==
        Tokens{3522, 3957, 3522, 3957, 2363, 2494});
  CHECK(tokens({.temperature = 0.8, .top_p = 0.95, .seed = 3}) ==
        Tokens{575, 3624, 3156, 356, 1172, 3282});
  CHECK(tokens({.temperature = 2, .top_p = 0.5, .min_p = 0.1, .seed = 4}) ==
        Tokens{2296, 4458, 4332, 2578, 2074, 2982});
}

}  // namespace
}  // namespace axle::runtime
