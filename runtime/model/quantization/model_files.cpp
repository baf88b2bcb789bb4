#include "runtime/model/quantization/model_files.h"

#include <cerrno>
#include <charconv>
#include <cstring>

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/files/atomic_file.h"
#include "runtime/files/model_file.h"
#include "runtime/json_text.h"
#include "runtime/json_tree.h"

namespace axle::runtime {
namespace {

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

/// An object of JSON, a member a line.
class ObjectText {
 public:
  /// `json`: the value as it is to be written.
  void add(std::string_view key, std::string_view json) {
    text_ += text_.empty() ? "{\n  " : ",\n  ";
    append_json_string(text_, key);
    text_ += ": ";
    for (const char character : json) {
      text_ += character;
      if (character == '\n') text_ += "  ";
    }
  }
  void add_text(std::string_view key, std::string_view value) {
    std::string quoted;
    append_json_string(quoted, value);
    add(key, quoted);
  }
  void add_count(std::string_view key, std::size_t value) { add(key, std::to_string(value)); }
  void add_flag(std::string_view key, bool value) { add(key, value ? "true" : "false"); }
  /// With as many digits as give the same number again.
  void add_number(std::string_view key, double value) {
    char digits[32];
    const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, value);
    add(key, std::string_view(digits, end.ptr));
  }

  [[nodiscard]] std::string take() { return std::move(text_) + "\n}"; }

 private:
  std::string text_;
};

std::string quantization_of(const QuantizationScheme& scheme) {
  ObjectText config;
  config.add_text("quant_method", "axle");
  config.add_count("format", StoredQuantization::format);
  config.add_text("mode", scheme.mode().name);
  config.add_text("method", name_of(scheme.method()));
  if (scheme.mode().group != 0) config.add_count("group", scheme.mode().group);
  return config.take();
}

std::string scaling_of(const RotaryShape& rotary) {
  if (rotary.scaling == RotaryShape::Scaling::none) return "null";
  ObjectText scaling;
  const bool is_llama3 = rotary.scaling == RotaryShape::Scaling::llama3;
  scaling.add_text("rope_type", is_llama3 ? "llama3" : "linear");
  scaling.add_number("factor", rotary.factor);
  if (is_llama3) {
    scaling.add_number("low_freq_factor", rotary.low_frequency_factor);
    scaling.add_number("high_freq_factor", rotary.high_frequency_factor);
    scaling.add_number("original_max_position_embeddings", rotary.original_context);
  }
  return scaling.take();
}

/// config.json of a decoder, from its numbers.
ObjectText config_of(const ModelShape& shape) {
  ObjectText config;
  // Of these only Mistral has a window in all layers by itself.
  const bool is_mistral = shape.window != 0 && shape.type == "llama";
  config.add_text("model_type", is_mistral ? "mistral" : shape.type);
  config.add_count("hidden_size", shape.hidden);
  config.add_count("intermediate_size", shape.feed_forward);
  config.add_count("num_hidden_layers", shape.layers);
  config.add_count("num_attention_heads", shape.heads);
  config.add_count("num_key_value_heads", shape.key_heads);
  config.add_count("head_dim", shape.head_depth);
  config.add_text("hidden_act", "silu");
  config.add_count("max_position_embeddings", shape.context);
  config.add_number("rms_norm_eps", static_cast<double>(shape.norm_epsilon));
  config.add_number("rope_theta", shape.rotary.theta);
  config.add("rope_scaling", scaling_of(shape.rotary));
  config.add_count("vocab_size", shape.vocabulary);
  std::string end_tokens;
  for (const std::int32_t token : shape.end_tokens)
    end_tokens += (end_tokens.empty() ? "" : ", ") + std::to_string(token);
  config.add("eos_token_id", "[" + end_tokens + "]");
  if (shape.window != 0) {
    config.add_count("sliding_window", shape.window);
    config.add_flag("use_sliding_window", true);
    config.add_count("max_window_layers", 0);
  }
  return config;
}

Result<void> write_config(ObjectText config, const Model& model, const QuantizationScheme& scheme,
                          const std::string& folder) {
  // The last layer is quantised, and so never the embedding itself.
  if (model.shape().architecture == Architecture::decoder)
    config.add_flag("tie_word_embeddings", false);
  config.add("quantization_config", quantization_of(scheme));
  return write_text(folder + "/config.json", config.take() + "\n");
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
  const Result<JsonTree> tree = JsonTree::parse(*text, config_path);
  if (!tree) return std::unexpected(tree.error());
  if (!tree->root().is_object())
    return failure(AXLE_MALFORMED, "%s: not a JSON object", config_path.c_str());
  ObjectText config;
  for (const auto& [key, value] : tree->root().items()) {
    const bool is_own =
        key == "quantization_config" ||
        (key == "tie_word_embeddings" && model.shape().architecture == Architecture::decoder);
    if (is_own) continue;
    config.add(key, value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  }
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
