#pragma once
// A model's linear layers quantised: into a folder of Hugging Face that this runtime opens, or only
// to measure what is lost.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/model/model.h"
#include "runtime/model/quantization/scheme.h"
#include "runtime/result.h"

namespace axle::runtime {

/// What rounding does to the weights of one linear layer, or of several together.
struct QuantizationLoss {
  std::string name;  ///< of the tensor, or the kind of layer ("down_proj")
  double error = 0;  ///< sum of squared differences
  double size = 0;   ///< sum of squared weights

  /// Root mean square of the differences over that of the weights; 0 if all weights are 0.
  [[nodiscard]] double relative() const;
};

/// A tensor that is no linear layer, in another type than in the file.
struct ConvertedTensor {
  QuantizationLoss loss;
  const char* type;  ///< "float16"
};

class QuantizationReport {
 public:
  explicit QuantizationReport(const QuantizationScheme& scheme) : scheme_(scheme) {}

  std::vector<QuantizationLoss> layers;    ///< in the model's order
  std::vector<ConvertedTensor> converted;  ///< embeddings of ggml's blocks

  [[nodiscard]] const QuantizationScheme& scheme() const { return scheme_; }
  [[nodiscard]] QuantizationLoss whole() const;
  [[nodiscard]] std::vector<QuantizationLoss> kinds() const;  ///< in the order of their first layer
  /// The layer of the largest relative error. There is at least one.
  [[nodiscard]] const QuantizationLoss& worst() const;

 private:
  friend class ModelQuantizer;
  QuantizationScheme scheme_;
  std::vector<std::string> kinds_;  ///< of the layers
};

/// The scheme that is meant by names as they are given; `method` empty: the mode's default, search
/// for int4 and absmax for the others; `group` 0: 64 for int4. AXLE_BAD_ARGUMENT for what does not
/// go together.
[[nodiscard]] Result<QuantizationScheme> choose_scheme(const ModelMode& mode,
                                                       std::string_view method, std::size_t group);

struct QuantizationTask {
  QuantizationScheme scheme;
  /// Tokens of a text like those that the model will see: method awq.
  std::span<const std::int32_t> calibration;
  LoadProgress on_calibration;
  LoadProgress on_weights;
};

/// Writes `folder`, which must not exist; it appears when it is complete. Not more than some rows
/// of weights are in memory, with awq one layer. `path` is where `model` was opened.
[[nodiscard]] Result<QuantizationReport> quantise_model(Engine& engine, const Model& model,
                                                        const std::string& path,
                                                        const std::string& folder,
                                                        const QuantizationTask& task);

/// The same without writing.
[[nodiscard]] Result<QuantizationReport> measure_loss(Engine& engine, const Model& model,
                                                      const QuantizationTask& task);

}  // namespace axle::runtime
