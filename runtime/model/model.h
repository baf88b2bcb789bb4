#pragma once
// A model as it lies on the disk: its numbers, tensors, tokenizer and chat template. Loading the
// weights is Decoder::load and Encoder::load.

#include <memory>
#include <optional>
#include <string>

#include "runtime/files/gguf.h"
#include "runtime/files/safetensors.h"
#include "runtime/model/description/model_shape.h"
#include "runtime/model/encoder.h"
#include "runtime/result.h"
#include "runtime/tokenizer/chat_template.h"
#include "runtime/tokenizer/tokenizer.h"

namespace axle::runtime {

class Model {
 public:
  /// A GGUF file, or a folder that holds one, or a folder with config.json, model.safetensors or
  /// its shards, and tokenizer.json. What is wrong is said with its file, and tensor or key.
  [[nodiscard]] static Result<Model> open(const std::string& path);

  [[nodiscard]] const ModelShape& shape() const { return shape_; }
  [[nodiscard]] const TensorSource& tensors() const;
  /// Null for a folder.
  [[nodiscard]] const GgufFile* gguf() const { return gguf_ ? &*gguf_ : nullptr; }
  [[nodiscard]] const Tokenizer& tokenizer() const { return *tokenizer_; }
  /// An error where the model has none, or one that is not known.
  [[nodiscard]] const Result<ChatTemplate>& chat_template() const { return chat_template_; }
  [[nodiscard]] const Pooling& pooling() const { return pooling_; }  ///< of an encoder

 private:
  Model() : chat_template_(failure(AXLE_UNSUPPORTED, "%s", "")) {}

  [[nodiscard]] Result<void> open_gguf(const std::string& path);
  [[nodiscard]] Result<void> open_folder(const std::string& path);
  void recognise_template(std::optional<std::string_view> text, const std::string& where);

  std::optional<GgufFile> gguf_;
  std::optional<SafetensorsFolder> folder_;
  ModelShape shape_;
  std::optional<Tokenizer> tokenizer_;
  Result<ChatTemplate> chat_template_;
  Pooling pooling_;
};

/// The tokens of one user's prompt: by the chat template, or as it is.
[[nodiscard]] Result<std::vector<std::int32_t>> prompt_tokens(const Model& model,
                                                              const std::string& prompt, bool raw);

/// AXLE_UNSUPPORTED if the model was trained to classify: its vectors mean nothing by themselves.
[[nodiscard]] Result<void> check_makes_vectors(const Model& model);

/// The query with each of the texts, for Encoder::score. AXLE_UNSUPPORTED if the model is no
/// reranker, or its tokenizer does not say how two texts are read together.
[[nodiscard]] Result<std::vector<TokenPair>> reranked_pairs(const Model& model,
                                                            std::string_view query,
                                                            std::span<const std::string> texts);

}  // namespace axle::runtime
