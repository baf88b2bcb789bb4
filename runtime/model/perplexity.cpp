#include "runtime/model/perplexity.h"

#include <algorithm>
#include <cmath>

#include "runtime/model/layers/elementary.h"

namespace axle::runtime {
namespace {

/// -ln of the probability that the logits give a token.
double surprise(std::span<const float> logits, std::int32_t token) {
  const double largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double total = 0;
  for (const float logit : logits)
    total += exponential(std::max(static_cast<double>(logit) - largest, -600.0));
  return logarithm(total) -
         (static_cast<double>(logits[static_cast<std::size_t>(token)]) - largest);
}

/// Adds what the second half of one window costs.
Result<void> score_window(Decoder& decoder, PagePool& pool, std::span<const std::int32_t> window,
                          std::vector<float>& logits, Perplexity& sum) {
  const std::size_t vocabulary = decoder.shape().vocabulary;
  const std::size_t first = window.size() / 2;
  Sequence sequence(pool);
  for (std::size_t at = 0; at < window.size();) {
    const std::size_t count = std::min(Decoder::most_tokens, window.size() - at);
    // The logits after token i are scored by token i + 1.
    const std::size_t end = at + count;
    const std::size_t start = std::max(at, first - 1);
    const std::size_t wanted = end > start ? end - start : 0;
    logits.resize(wanted * vocabulary);
    const Continuation next{&sequence, window.subspan(at, count),
                            wanted > 0 ? logits.data() : nullptr, wanted};
    const Result<void> done = decoder.forward({&next, 1});
    if (!done) return done;
    for (std::size_t i = 0; i < wanted && start + i + 1 < window.size(); ++i) {
      const std::span<const float> own(logits.data() + i * vocabulary, vocabulary);
      if (!std::all_of(own.begin(), own.end(), [](float logit) { return std::isfinite(logit); }))
        return failure(AXLE_MALFORMED,
                       "%s: the model's numbers overflow: some of its weights are far too large; "
                       "fetch or convert the model again",
                       decoder.where().c_str());
      sum.mean += surprise(own, window[start + i + 1]);
      ++sum.scored;
    }
    at = end;
  }
  return {};
}

}  // namespace

Result<Perplexity> measure_perplexity(Decoder& decoder, CacheForm form,
                                      std::span<const std::int32_t> tokens, std::size_t window,
                                      const LoadProgress& progress) {
  const ModelShape& shape = decoder.shape();
  if (window < 2 || window > shape.context)
    return failure(AXLE_BAD_ARGUMENT, "%s: a window of %zu tokens; this model takes 2 to %zu",
                   decoder.where().c_str(), window, shape.context);
  if (tokens.size() < window)
    return failure(
        AXLE_BAD_ARGUMENT,
        "the text has %zu tokens; a window of %zu needs as many, give a longer text or a "
        "smaller window",
        tokens.size(), window);
  const Result<void> known = check_tokens(shape, tokens, decoder.where(), "the text");
  if (!known) return std::unexpected(known.error());
  PagePool pool(decoder.cache_shape(form));
  Perplexity sum;
  std::vector<float> logits;
  for (std::size_t at = 0; at + window <= tokens.size(); at += window) {
    const Result<void> done = score_window(decoder, pool, tokens.subspan(at, window), logits, sum);
    if (!done) return std::unexpected(done.error());
    if (progress) progress(static_cast<double>(at + window) / static_cast<double>(tokens.size()));
  }
  sum.mean /= static_cast<double>(sum.scored);
  constexpr double largest_exponent = 700;
  sum.perplexity = sum.mean < largest_exponent ? exponential(sum.mean) : HUGE_VAL;
  return sum;
}

}  // namespace axle::runtime
