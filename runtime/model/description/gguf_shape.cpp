// The metadata of a GGUF file as a model's shape (ggml's docs/gguf.md, "LLM").
#include <algorithm>

#include "runtime/model/description/checked_shape.h"

namespace axle::runtime {
namespace {

struct GgufArchitecture {
  const char* name;
  bool interleaved_rotary;  ///< llama.cpp's converter pairs neighbouring rows for this one
};

constexpr GgufArchitecture gguf_architectures[] = {
    {"llama", true}, {"qwen2", false}, {"qwen3", false}};

/// Numbers under "<type>.…"; the first that is missing is kept.
class Metadata {
 public:
  Metadata(const GgufFile& file, std::string type) : file_(file), type_(std::move(type)) {}

  std::size_t count(const char* key, std::optional<std::uint64_t> fallback = std::nullopt) {
    const std::optional<std::uint64_t> value = file_.count(full(key));
    if (!value && !fallback && missing_.empty()) missing_ = full(key);
    return static_cast<std::size_t>(value.value_or(fallback.value_or(0)));
  }
  double number(const char* key, double fallback) const {
    return file_.number(full(key)).value_or(fallback);
  }
  [[nodiscard]] std::string full(const char* key) const { return type_ + "." + key; }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  const GgufFile& file_;
  std::string type_;
  std::string missing_;
};

Result<void> read_scaling(const GgufFile& file, const Metadata& metadata, RotaryShape& rotary) {
  const std::string_view type = file.text(metadata.full("rope.scaling.type")).value_or("none");
  if (type == "linear") {
    rotary.scaling = RotaryShape::Scaling::linear;
    rotary.factor = metadata.number("rope.scaling.factor", 1);
    return {};
  }
  if (type == "none") return {};
  return failure(AXLE_UNSUPPORTED,
                 "%s: rotary scaling \"%s\" is not supported; there are none and linear (Llama 3's "
                 "is in the tensor rope_freqs.weight)",
                 file.path().c_str(), std::string(type).c_str());
}

/// The token that ends a text and, where there is one, that ends a turn.
void read_end_tokens(const GgufFile& file, ModelShape& shape) {
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}) {
    const std::optional<std::uint64_t> id = file.count(key);
    if (id && *id <= INT32_MAX) shape.end_tokens.push_back(static_cast<std::int32_t>(*id));
  }
}

}  // namespace

Result<ModelShape> read_shape(const GgufFile& file) {
  const std::string name(file.text("general.architecture").value_or(""));
  const auto* const type =
      std::find_if(std::begin(gguf_architectures), std::end(gguf_architectures),
                   [&](const GgufArchitecture& one) { return name == one.name; });
  if (type == std::end(gguf_architectures))
    return failure(
        AXLE_UNSUPPORTED,
        "%s: models of architecture \"%s\" are not supported; there are llama, qwen2 and "
        "qwen3",
        file.path().c_str(), name.c_str());
  Metadata metadata(file, name);
  ModelShape shape;
  shape.type = name;
  shape.interleaved_rotary = type->interleaved_rotary;
  shape.hidden = metadata.count("embedding_length");
  shape.layers = metadata.count("block_count");
  shape.heads = metadata.count("attention.head_count");
  shape.key_heads = metadata.count("attention.head_count_kv", shape.heads);
  shape.head_depth =
      metadata.count("attention.key_length", shape.heads > 0 ? shape.hidden / shape.heads : 0);
  shape.feed_forward = metadata.count("feed_forward_length");
  shape.context = metadata.count("context_length");
  shape.window = metadata.count("attention.sliding_window", 0);
  shape.norm_epsilon =
      static_cast<float>(metadata.number("attention.layer_norm_rms_epsilon", 1e-5));
  shape.rotary.theta = metadata.number("rope.freq_base", 10000);
  if (!metadata.missing().empty())
    return failure(AXLE_MALFORMED, "%s: metadata \"%s\" is missing or no whole number",
                   file.path().c_str(), metadata.missing().c_str());
  if (metadata.count("attention.value_length", shape.head_depth) != shape.head_depth ||
      metadata.count("rope.dimension_count", shape.head_depth) != shape.head_depth)
    return failure(AXLE_UNSUPPORTED,
                   "%s: keys, values and rotation of different depths are not supported",
                   file.path().c_str());
  const Tensor* const embedding = file.tensors().find("token_embd.weight");
  if (embedding == nullptr || embedding->shape.size() != 2)
    return failure(AXLE_MALFORMED, "%s: there is no matrix \"token_embd.weight\"",
                   file.path().c_str());
  shape.vocabulary = embedding->shape[0];
  shape.tied_embeddings = file.tensors().find("output.weight") == nullptr;
  const Result<void> scaled = read_scaling(file, metadata, shape.rotary);
  if (!scaled) return std::unexpected(scaled.error());
  read_end_tokens(file, shape);
  return checked(std::move(shape), file.path());
}

}  // namespace axle::runtime
