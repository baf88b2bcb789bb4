#include "runtime/model/description/tensor_names.h"

#include "runtime/model/description/required_tensors.h"

namespace axle::runtime {
namespace {

struct Names {
  const char* folder;  ///< in Hugging Face's, without the prefix
  const char* gguf;
};

/// By the number of the part. Those of a layer stand behind "layers.N." and "blk.N.".
constexpr Names names[] = {{"embed_tokens", "token_embd"},
                           {"norm", "output_norm"},
                           {"lm_head", "output"},
                           {nullptr, "rope_freqs"},
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

Result<ModelTensors> ModelTensors::open(const TensorSource& source) {
  if (source.find("token_embd.weight") != nullptr) return ModelTensors(source, true, "");
  for (const char* prefix : {"model.", ""}) {
    if (source.find(std::string(prefix) + "embed_tokens.weight") != nullptr)
      return ModelTensors(source, false, prefix);
  }
  return failure(
      AXLE_MALFORMED,
      "%s: there is no tensor \"model.embed_tokens.weight\" or \"token_embd.weight\"; this "
      "does not hold a language model",
      source.where().c_str());
}

std::string ModelTensors::name(Part part, std::size_t layer, const char* what) const {
  const Names& row = names[static_cast<std::size_t>(part)];
  const bool in_layer = part >= Part::attention_norm;
  std::string name;
  if (!gguf_ && part != Part::output) name = prefix_;
  if (in_layer) name += (gguf_ ? "blk." : "layers.") + std::to_string(layer) + ".";
  const char* const own = gguf_ ? row.gguf : row.folder;
  return own == nullptr ? "" : name + own + "." + what;
}

const Tensor* ModelTensors::find(Part part, std::size_t layer, const char* what) const {
  return source_->find(name(part, layer, what));
}

Result<const Tensor*> ModelTensors::matrix(Part part, std::size_t layer, std::size_t rows,
                                           std::size_t columns) const {
  return require_matrix(*source_, name(part, layer, "weight"), rows, columns);
}

Result<std::vector<float>> ModelTensors::vector(Part part, std::size_t layer, const char* what,
                                                std::size_t length) const {
  return require_vector(*source_, name(part, layer, what), length);
}

}  // namespace axle::runtime
