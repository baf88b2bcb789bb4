#include "runtime/model/quantization/model_files.h"

#include <cerrno>
#include <cstring>

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/files/atomic_file.h"
#include "runtime/files/model_file.h"

namespace axle::runtime {
namespace {

using nlohmann::ordered_json;

/// What a folder's reader looks at, beside config.json and weights, and what other programs want.
constexpr const char* copied_files[] = {"tokenizer.json",          "generation_config.json",
                                        "tokenizer_config.json",   "chat_template.jinja",
                                        "special_tokens_map.json", "modules.json",
                                        "1_Pooling/config.json"};

Result<void> write_text(const std::string& path, std::string_view text) {
  Result<AtomicFile> file = AtomicFile::create(path, text.size());
  if (!file) return std::unexpected(file.error());
  Result<void> done = file->write(0, std::as_bytes(std::span(text)));
  if (done) done = file->sync();
  if (done) done = file->publish();
  return done;
}

ordered_json quantization_of(const QuantizationScheme& scheme) {
  ordered_json config{{"quant_method", "axle"},
                      {"format", StoredQuantization::format},
                      {"mode", scheme.mode().name},
                      {"method", name_of(scheme.method())}};
  if (scheme.mode().group != 0) config["group"] = scheme.mode().group;
  return config;
}

ordered_json scaling_of(const RotaryShape& rotary) {
  if (rotary.scaling == RotaryShape::Scaling::linear)
    return {{"rope_type", "linear"}, {"factor", rotary.factor}};
  if (rotary.scaling == RotaryShape::Scaling::llama3)
    return {{"rope_type", "llama3"},
            {"factor", rotary.factor},
            {"low_freq_factor", rotary.low_frequency_factor},
            {"high_freq_factor", rotary.high_frequency_factor},
            {"original_max_position_embeddings", rotary.original_context}};
  return nullptr;
}

/// config.json of a decoder, from its numbers.
ordered_json config_of(const ModelShape& shape) {
  ordered_json config{{"model_type", shape.type},
                      {"hidden_size", shape.hidden},
                      {"intermediate_size", shape.feed_forward},
                      {"num_hidden_layers", shape.layers},
                      {"num_attention_heads", shape.heads},
                      {"num_key_value_heads", shape.key_heads},
                      {"head_dim", shape.head_depth},
                      {"hidden_act", "silu"},
                      {"max_position_embeddings", shape.context},
                      {"rms_norm_eps", static_cast<double>(shape.norm_epsilon)},
                      {"rope_theta", shape.rotary.theta},
                      {"rope_scaling", scaling_of(shape.rotary)},
                      {"vocab_size", shape.vocabulary},
                      {"eos_token_id", shape.end_tokens}};
  if (shape.window != 0) {
    // Of these only Mistral has a window in all layers by itself.
    if (shape.type == "llama") config["model_type"] = "mistral";
    config["sliding_window"] = shape.window;
    config["use_sliding_window"] = true;
    config["max_window_layers"] = 0;
  }
  return config;
}

/// The last layer is quantised, and so never the embedding itself.
Result<void> write_config(ordered_json config, const Model& model, const QuantizationScheme& scheme,
                          const std::string& folder) {
  if (model.shape().architecture == Architecture::decoder) config["tie_word_embeddings"] = false;
  config["quantization_config"] = quantization_of(scheme);
  return write_text(folder + "/config.json",
                    config.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

Result<void> write_of_gguf(const GgufFile& file, const Model& model,
                           const QuantizationScheme& scheme, const std::string& folder) {
  const Result<void> config = write_config(config_of(model.shape()), model, scheme, folder);
  if (!config) return config;
  const Result<std::string> tokenizer = tokenizer_json(read_vocabulary(file), file.path());
  if (!tokenizer) return std::unexpected(tokenizer.error());
  const Result<void> written = write_text(folder + "/tokenizer.json", *tokenizer);
  if (!written) return written;
  const std::optional<std::string_view> chat = file.text("tokenizer.chat_template");
  return chat ? write_text(folder + "/chat_template.jinja", *chat) : Result<void>{};
}

Result<void> copy_file(const std::string& from, const std::string& to) {
  if (access(from.c_str(), F_OK) != 0) return {};
  const Result<std::string> text = read_text(from, largest_json_file);
  if (!text) return std::unexpected(text.error());
  return write_text(to, *text);
}

Result<void> write_of_folder(const std::string& path, const Model& model,
                             const QuantizationScheme& scheme, const std::string& folder) {
  const std::string config_path = path + "/config.json";
  const Result<std::string> text = read_text(config_path, largest_json_file);
  if (!text) return std::unexpected(text.error());
  // It was read when the model was opened.
  ordered_json config = ordered_json::parse(*text, nullptr, false);
  if (!config.is_object())
    return failure(AXLE_MALFORMED, "%s: not a JSON object", config_path.c_str());
  const Result<void> written = write_config(std::move(config), model, scheme, folder);
  if (!written) return written;
  if (access((path + "/1_Pooling").c_str(), F_OK) == 0 &&
      mkdir((folder + "/1_Pooling").c_str(), 0777) != 0)
    return failure(AXLE_IO, "%s/1_Pooling: cannot be made: %s", folder.c_str(),
                   std::strerror(errno));
  for (const char* const name : copied_files) {
    const Result<void> copied = copy_file(path + "/" + name, folder + "/" + name);
    if (!copied) return copied;
  }
  return {};
}

}  // namespace

Result<void> write_model_files(const Model& model, const std::string& path,
                               const QuantizationScheme& scheme, const std::string& folder) {
  if (model.gguf() != nullptr) return write_of_gguf(*model.gguf(), model, scheme, folder);
  return write_of_folder(path, model, scheme, folder);
}

}  // namespace axle::runtime
