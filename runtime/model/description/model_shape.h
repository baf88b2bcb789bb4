#pragma once
// What a model is made of: the numbers of its config.json or of its GGUF file.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/gguf.h"
#include "runtime/result.h"

namespace axle::runtime {

enum class Architecture : std::uint8_t {
  decoder,  ///< Llama, Mistral, Qwen2, Qwen3 (dense): a next token at a time
  encoder   ///< BERT: vectors of whole texts
};

/// Angles of the rotary position embedding: position / theta^(2i / head_depth), then scaled.
struct RotaryShape {
  double theta = 10000;
  enum class Scaling : std::uint8_t { none, linear, llama3 } scaling = Scaling::none;
  double factor = 1;
  double low_frequency_factor = 1;   ///< llama3
  double high_frequency_factor = 4;  ///< llama3
  double original_context = 8192;    ///< llama3
};

/// How the linear layers of a folder are stored that is quantised already ("quantization_config" of
/// its config.json).
struct StoredQuantization {
  static constexpr std::uint64_t format = 1;  ///< what this version writes and reads

  std::string mode;       ///< "a16w8", …
  std::string method;     ///< "absmax", "mse", "search", "awq"
  std::size_t group = 0;  ///< of int4 weights, else 0
};

struct ModelShape {
  std::string type;  ///< "llama", "mistral", "qwen2", "qwen3", "bert"
  Architecture architecture = Architecture::decoder;
  std::size_t hidden = 0;
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t key_heads = 0;   ///< of keys and values; divides `heads`
  std::size_t head_depth = 0;  ///< a multiple of 16
  std::size_t feed_forward = 0;
  std::size_t vocabulary = 0;
  std::size_t context = 0;   ///< positions that the model was made for
  std::size_t segments = 1;  ///< of an encoder: rows of its token type embeddings
  /// Of an encoder that was trained to classify ("BertForSequenceClassification"): its classes; one
  /// class is a reranker's score. 0: it makes vectors.
  std::size_t classes = 0;
  float norm_epsilon = 1e-5F;
  RotaryShape rotary;
  std::size_t window = 0;           ///< positions that a token sees; 0: all before it
  bool tied_embeddings = false;     ///< the embedding is the last layer, too
  bool interleaved_rotary = false;  ///< the file's rows of queries and keys are in pairs (2i, 2i+1)
  std::vector<std::int32_t> end_tokens;  ///< any of them ends an answer
  std::optional<StoredQuantization> stored;

  [[nodiscard]] std::size_t query_width() const { return heads * head_depth; }
  [[nodiscard]] std::size_t key_width() const { return key_heads * head_depth; }
};

/// AXLE_BAD_ARGUMENT if one of the tokens of `text` ("the prompt") is not in the vocabulary of the
/// model in `where`.
[[nodiscard]] Result<void> check_tokens(const ModelShape& shape,
                                        std::span<const std::int32_t> tokens,
                                        const std::string& where, const std::string& text);

/// config.json of Hugging Face's transformers; `where` names it in errors.
[[nodiscard]] Result<ModelShape> parse_config(std::string_view text, const std::string& where);

/// The metadata of a GGUF file.
[[nodiscard]] Result<ModelShape> read_shape(const GgufFile& file);

}  // namespace axle::runtime
