// config.json of Hugging Face's transformers.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "runtime/json_tree.h"
#include "runtime/model/description/checked_shape.h"

namespace axle::runtime {
namespace {

using nlohmann::json;

struct ConfigType {
  const char* name;
  Architecture architecture;
};

constexpr ConfigType config_types[] = {{"llama", Architecture::decoder},
                                       {"mistral", Architecture::decoder},
                                       {"qwen2", Architecture::decoder},
                                       {"qwen3", Architecture::decoder},
                                       {"bert", Architecture::encoder}};

/// Reads members of one object; the first thing that is wrong is kept.
class Members {
 public:
  Members(const json& object, std::string where) : object_(object), where_(std::move(where)) {}

  [[nodiscard]] const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  /// A whole number, `fallback` where the key is absent; without a fallback it must be there.
  std::size_t count(const char* key, std::optional<std::size_t> fallback = std::nullopt) {
    const json* const value = find(key);
    if (value == nullptr && fallback) return *fallback;
    if (value == nullptr) return complain(key, "is missing");
    if (!value->is_number_unsigned()) return complain(key, "is not a whole number");
    return value->get<std::size_t>();
  }

  double number(const char* key, double fallback) {
    const json* const value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_number()) return static_cast<double>(complain(key, "is not a number"));
    return value->get<double>();
  }

  bool flag(const char* key, bool fallback) {
    const json* const value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_boolean()) return complain(key, "is not true or false") != 0;
    return value->get<bool>();
  }

  std::string text(const char* key, const char* fallback) {
    const json* const value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_string()) return complain(key, "is not a string") != 0 ? "" : "";
    return value->get<std::string>();
  }

  std::size_t complain(const std::string& key, const std::string& what) {
    if (!problem_) problem_ = Failure{AXLE_MALFORMED, where_ + ": \"" + key + "\" " + what};
    return 0;
  }

  void refuse(const std::string& message) {
    if (!problem_) problem_ = Failure{AXLE_UNSUPPORTED, where_ + ": " + message};
  }

  [[nodiscard]] const std::optional<Failure>& problem() const { return problem_; }

 private:
  const json& object_;
  std::string where_;
  std::optional<Failure> problem_;
};

void read_scaling(Members& config, const std::string& where, RotaryShape& rotary) {
  // transformers 5 writes "rope_parameters", with the base inside; before it was "rope_scaling".
  const json* scaling = config.find("rope_parameters");
  if (scaling == nullptr) scaling = config.find("rope_scaling");
  if (scaling == nullptr) return;
  if (!scaling->is_object()) {
    config.complain("rope_scaling", "is not an object");
    return;
  }
  Members members(*scaling, where + ": rope_scaling");
  const std::string type = members.text("rope_type", members.text("type", "default").c_str());
  rotary.theta = members.number("rope_theta", rotary.theta);
  if (type == "linear") {
    rotary.scaling = RotaryShape::Scaling::linear;
    rotary.factor = members.number("factor", 1);
  } else if (type == "llama3") {
    rotary.scaling = RotaryShape::Scaling::llama3;
    rotary.factor = members.number("factor", 8);
    rotary.low_frequency_factor = members.number("low_freq_factor", 1);
    rotary.high_frequency_factor = members.number("high_freq_factor", 4);
    rotary.original_context = members.number("original_max_position_embeddings", 8192);
  } else if (type != "default") {
    config.refuse("rotary scaling \"" + type +
                  "\" is not supported; there are default, linear and llama3");
  }
  if (members.problem()) config.complain("rope_scaling", members.problem()->message);
}

void read_end_tokens(Members& config, ModelShape& shape) {
  const json* const value = config.find("eos_token_id");
  if (value == nullptr) return;
  const std::size_t count = value->is_array() ? value->size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const json& id = value->is_array() ? (*value)[i] : *value;
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 ||
        id.get<std::int64_t>() > INT32_MAX) {
      config.complain("eos_token_id", "is not a token id or a list of them");
      return;
    }
    shape.end_tokens.push_back(id.get<std::int32_t>());
  }
}

void require(Members& config, const char* key, const std::string& wanted) {
  const std::string found = config.text(key, wanted.c_str());
  if (found != wanted)
    config.refuse("\"" + std::string(key) + "\" is \"" + found + "\"; only \"" + wanted +
                  "\" is supported");
}

/// "quantization_config": of our own; another one would give tensors that mean something else.
void read_quantization(Members& config, const std::string& where, ModelShape& shape) {
  const json* const value = config.find("quantization_config");
  if (value == nullptr) return;
  if (!value->is_object()) {
    config.complain("quantization_config", "is not an object");
    return;
  }
  Members own(*value, where + ": quantization_config");
  const std::string kind = own.text("quant_method", "");
  if (kind != "axle") {
    config.refuse("weights quantised by \"" + kind +
                  "\" are not supported; there is \"axle\" (`variant model quantize`)");
    return;
  }
  const std::uint64_t format = own.count("format");
  StoredQuantization stored{own.text("mode", ""), own.text("method", ""), own.count("group", 0)};
  if (own.problem()) {
    config.complain("quantization_config", own.problem()->message);
  } else if (format != StoredQuantization::format) {
    config.refuse("quantised weights of format " + std::to_string(format) +
                  " are not supported, only of format " +
                  std::to_string(StoredQuantization::format) +
                  "; use a newer version, or quantise the model again");
  } else {
    shape.stored = std::move(stored);
  }
}

void read_decoder(Members& config, const std::string& where, ModelShape& shape) {
  shape.key_heads = config.count("num_key_value_heads", shape.heads);
  const std::size_t even = shape.heads > 0 ? shape.hidden / shape.heads : 0;
  shape.head_depth = config.count("head_dim", even);
  shape.norm_epsilon = static_cast<float>(config.number("rms_norm_eps", 1e-6));
  shape.rotary.theta = config.number("rope_theta", 10000);
  shape.tied_embeddings = config.flag("tie_word_embeddings", false);
  require(config, "hidden_act", "silu");
  // Qwen2 and Qwen3 name a window that only counts with "use_sliding_window".
  const bool windowed = shape.type == "mistral" || config.flag("use_sliding_window", false);
  if (windowed) shape.window = config.count("sliding_window", 0);
  if (windowed && shape.type != "mistral" && config.count("max_window_layers", 0) != 0)
    config.refuse("a sliding window in some layers only is not supported");
  read_scaling(config, where, shape.rotary);
  read_end_tokens(config, shape);
}

/// Classes of an encoder that was trained to classify, by the rules of transformers: as many as
/// "id2label" has, else "num_labels", else two.
void read_classes(Members& config, ModelShape& shape) {
  const json* const architectures = config.find("architectures");
  if (architectures == nullptr) return;
  if (!architectures->is_array()) {
    config.complain("architectures", "is not a list");
    return;
  }
  const json classifier = "BertForSequenceClassification";
  if (std::find(architectures->begin(), architectures->end(), classifier) == architectures->end())
    return;
  const json* const labels = config.find("id2label");
  if (labels != nullptr && !labels->is_object()) config.complain("id2label", "is not an object");
  shape.classes = labels != nullptr ? labels->size() : config.count("num_labels", 2);
  if (shape.classes == 0) config.complain("id2label", "names no class");
}

void read_encoder(Members& config, ModelShape& shape) {
  shape.key_heads = shape.heads;
  shape.head_depth = shape.heads > 0 ? shape.hidden / shape.heads : 0;
  shape.segments = config.count("type_vocab_size", 2);
  shape.norm_epsilon = static_cast<float>(config.number("layer_norm_eps", 1e-12));
  require(config, "hidden_act", "gelu");
  require(config, "position_embedding_type", "absolute");
  read_classes(config, shape);
}

}  // namespace

Result<ModelShape> parse_config(std::string_view text, const std::string& where) {
  const Result<JsonTree> tree = JsonTree::parse(text, where);
  if (!tree) return std::unexpected(tree.error());
  const json& document = tree->root();
  if (document.is_discarded() || !document.is_object())
    return failure(AXLE_MALFORMED, "%s: not a JSON object", where.c_str());
  Members config(document, where);
  ModelShape shape;
  shape.type = config.text("model_type", "");
  const ConfigType* type = nullptr;
  for (const ConfigType& one : config_types) {
    if (shape.type == one.name) type = &one;
  }
  if (type == nullptr && !config.problem())
    return failure(AXLE_UNSUPPORTED,
                   "%s: models of type \"%s\" are not supported; there are llama, mistral, qwen2, "
                   "qwen3 and bert",
                   where.c_str(), shape.type.c_str());
  if (config.problem()) return std::unexpected(*config.problem());
  shape.architecture = type->architecture;
  shape.hidden = config.count("hidden_size");
  shape.layers = config.count("num_hidden_layers");
  shape.heads = config.count("num_attention_heads");
  shape.feed_forward = config.count("intermediate_size");
  shape.vocabulary = config.count("vocab_size");
  shape.context = config.count("max_position_embeddings");
  if (shape.architecture == Architecture::decoder) {
    read_decoder(config, where, shape);
  } else {
    read_encoder(config, shape);
  }
  read_quantization(config, where, shape);
  if (config.problem()) return std::unexpected(*config.problem());
  if (shape.heads == 0 ||
      (shape.architecture == Architecture::encoder && shape.hidden % shape.heads != 0))
    return failure(AXLE_MALFORMED, "%s: a hidden size of %zu cannot be divided into %zu heads",
                   where.c_str(), shape.hidden, shape.heads);
  return checked(std::move(shape), where);
}

}  // namespace axle::runtime
