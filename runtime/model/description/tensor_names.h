#pragma once
// The tensors of a decoder by what they are for: their names in Hugging Face's folders and in GGUF
// files.

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/files/tensor.h"
#include "runtime/files/tensor_source.h"
#include "runtime/model/description/required_tensors.h"
#include "runtime/result.h"

namespace axle::runtime {

enum class Part : std::uint8_t {
  embedding,
  final_norm,
  output,
  rotary_factors,
  // Of a layer:
  attention_norm,
  query,
  key,
  value,
  attention_output,
  query_norm,
  key_norm,
  feed_forward_norm,
  gate,
  up,
  down
};

/// The name of a part in Hugging Face's folders, as this runtime writes them, without ".weight".
[[nodiscard]] std::string folder_name(Part part, std::size_t layer);

/// What an encoder's names begin with: nothing, or "bert." where a head was trained beside it.
[[nodiscard]] std::string encoder_prefix(const TensorSource& source);

/// Finds the tensors of one file or folder.
class ModelTensors {
 public:
  /// Which of the two ways of naming is in use is seen by the embedding's name.
  /// `stored`, which may be null, says how linear layers are quantised; it must stay.
  [[nodiscard]] static Result<ModelTensors> open(const TensorSource& source,
                                                 const StoredQuantization* stored = nullptr);

  /// "weight" or "bias" of a part; null if it is not there.
  [[nodiscard]] const Tensor* find(Part part, std::size_t layer, const char* what) const;

  /// [rows][columns], or an error that names the tensor.
  [[nodiscard]] Result<const Tensor*> matrix(Part part, std::size_t layer, std::size_t rows,
                                             std::size_t columns) const;

  /// The weights of a linear layer, or an error that names the tensor.
  [[nodiscard]] Result<LinearTensors> linear(Part part, std::size_t layer, std::size_t rows,
                                             std::size_t columns) const;

  /// `length` finite floats, or an error that names the tensor.
  [[nodiscard]] Result<std::vector<float>> vector(Part part, std::size_t layer, const char* what,
                                                  std::size_t length) const;

  /// The same for what not every model has: empty where it is absent.
  [[nodiscard]] Result<std::vector<float>> optional_vector(Part part, std::size_t layer,
                                                           const char* what,
                                                           std::size_t length) const;

  [[nodiscard]] const std::string& where() const { return source_->where(); }

 private:
  ModelTensors(const TensorSource& source, const StoredQuantization* stored, bool gguf,
               std::string prefix)
      : source_(&source), stored_(stored), gguf_(gguf), prefix_(std::move(prefix)) {}

  [[nodiscard]] std::string name(Part part, std::size_t layer) const;
  [[nodiscard]] std::string name(Part part, std::size_t layer, const char* what) const;

  const TensorSource* source_;
  const StoredQuantization* stored_;
  bool gguf_;
  std::string prefix_;
};

}  // namespace axle::runtime
