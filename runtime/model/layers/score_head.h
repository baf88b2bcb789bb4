#pragma once
// What a reranker has behind an encoder: one number for a pair of texts.

#include <span>
#include <string>
#include <vector>

#include "runtime/files/tensor_source.h"
#include "runtime/result.h"

namespace axle::runtime {

/// classifier(tanh(pooler([CLS]))), as BertForSequenceClassification of transformers computes it
/// for one class. In double, in one order: the weights are few.
class ScoreHead {
 public:
  /// `encoder_prefix`: what stands before the encoder's names ("bert."); the classifier has none.
  [[nodiscard]] static Result<ScoreHead> load(const TensorSource& source,
                                              const std::string& encoder_prefix,
                                              std::size_t hidden);

  /// The model's own number ("logit") for the vector of [CLS] after the last layer: [hidden].
  [[nodiscard]] float score(std::span<const float> first) const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  ScoreHead() = default;

  std::vector<float> pooler_;  ///< [hidden][hidden]
  std::vector<float> pooler_bias_;
  std::vector<float> classifier_;  ///< [hidden]
  float classifier_bias_ = 0;
};

}  // namespace axle::runtime
