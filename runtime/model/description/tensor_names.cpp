#include "runtime/model/description/tensor_names.h"

#include "runtime/model/description/required_tensors.h"

namespace axle::runtime {
namespace {

struct Names {
  const char* folder;  ///< in Hugging Face's, without the prefix
  const char* gguf;
};

/// By the number of the part; folders have no rotary factors but those that this runtime writes.
/// Those of a layer stand behind "layers.N." and "blk.N.".
constexpr Names names[] = {{"embed_tokens", "token_embd"},
                           {"norm", "output_norm"},
                           {"lm_head", "output"},
                           {"rotary_factors", "rope_freqs"},
                           {"input_layernorm", "attn_norm"},
                           {"self_attn.q_proj", "attn_q"},
                           {"self_attn.k_proj", "attn_k"},
                           {"self_attn.v_proj", "attn_v"},
                           {"self_attn.o_proj", "attn_output"},
                           {"self_attn.q_norm", "attn_q_norm"},
                           {"self_attn.k_norm", "attn_k_norm"},
                           {"post_attention_layernorm", "ffn_norm"},
                           {"mlp.gate_proj", "ffn_gate"},
                           {"mlp.up_proj", "ffn_up"},
                           {"mlp.down_proj", "ffn_down"}};

}  // namespace

std::string folder_name(Part part, std::size_t layer) {
  std::string name = part == Part::output ? "" : "model.";
  if (part >= Part::attention_norm) name += "layers." + std::to_string(layer) + ".";
  return name + names[static_cast<std::size_t>(part)].folder;
}

std::string encoder_prefix(const TensorSource& source) {
  return source.find("embeddings.word_embeddings.weight") != nullptr ? "" : "bert.";
}

Result<ModelTensors> ModelTensors::open(const TensorSource& source,
                                        const StoredQuantization* stored) {
  if (source.find("token_embd.weight") != nullptr) return ModelTensors(source, stored, true, "");
  for (const char* prefix : {"model.", ""}) {
    if (source.find(std::string(prefix) + "embed_tokens.weight") != nullptr)
      return ModelTensors(source, stored, false, prefix);
  }
  return failure(
      AXLE_MALFORMED,
      "%s: there is no tensor \"model.embed_tokens.weight\" or \"token_embd.weight\"; this "
      "does not hold a language model",
      source.where().c_str());
}

std::string ModelTensors::name(Part part, std::size_t layer) const {
  const Names& row = names[static_cast<std::size_t>(part)];
  std::string name;
  if (!gguf_ && part != Part::output) name = prefix_;
  if (part >= Part::attention_norm)
    name += (gguf_ ? "blk." : "layers.") + std::to_string(layer) + ".";
  return name + (gguf_ ? row.gguf : row.folder);
}

std::string ModelTensors::name(Part part, std::size_t layer, const char* what) const {
  return name(part, layer) + "." + what;
}

const Tensor* ModelTensors::find(Part part, std::size_t layer, const char* what) const {
  return source_->find(name(part, layer, what));
}

Result<const Tensor*> ModelTensors::matrix(Part part, std::size_t layer, std::size_t rows,
                                           std::size_t columns) const {
  return require_matrix(*source_, name(part, layer, "weight"), rows, columns);
}

Result<LinearTensors> ModelTensors::linear(Part part, std::size_t layer, std::size_t rows,
                                           std::size_t columns) const {
  return require_linear(*source_, name(part, layer), rows, columns, stored_);
}

Result<std::vector<float>> ModelTensors::vector(Part part, std::size_t layer, const char* what,
                                                std::size_t length) const {
  return require_vector(*source_, name(part, layer, what), length);
}

Result<std::vector<float>> ModelTensors::optional_vector(Part part, std::size_t layer,
                                                         const char* what,
                                                         std::size_t length) const {
  if (find(part, layer, what) == nullptr) return std::vector<float>();
  return vector(part, layer, what, length);
}

}  // namespace axle::runtime
