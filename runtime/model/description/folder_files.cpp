#include "runtime/model/description/folder_files.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "runtime/files/model_file.h"
#include "runtime/json_nesting.h"

namespace axle::runtime {
namespace {

using nlohmann::json;

/// Null where the file is absent.
Result<json> read_json(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return json();
  const Result<std::string> text = read_text(path, largest_json_file);
  if (!text) return std::unexpected(text.error());
  const Result<void> nesting = check_json_nesting(*text, path);
  if (!nesting) return std::unexpected(nesting.error());
  json document = json::parse(*text, nullptr, false);
  if (!document.is_object() && !document.is_array())
    return failure(AXLE_MALFORMED, "%s: not a JSON object or list", path.c_str());
  return document;
}

}  // namespace

Result<FolderGeneration> read_generation(const std::string& folder) {
  FolderGeneration generation;
  const Result<json> config = read_json(folder + "/generation_config.json");
  if (!config) return std::unexpected(config.error());
  if (config->is_object() && config->contains("eos_token_id")) {
    const json& value = (*config)["eos_token_id"];
    for (const json& id : value.is_array() ? value : json::array({value})) {
      if (id.is_number_unsigned() && id.get<std::uint64_t>() <= INT32_MAX)
        generation.end_tokens.push_back(id.get<std::int32_t>());
    }
  }
  const std::string jinja = folder + "/chat_template.jinja";
  if (access(jinja.c_str(), F_OK) == 0) {
    Result<std::string> text = read_text(jinja, largest_json_file);
    if (!text) return std::unexpected(text.error());
    generation.chat_template = std::move(*text);
    return generation;
  }
  const Result<json> tokenizer = read_json(folder + "/tokenizer_config.json");
  if (!tokenizer) return std::unexpected(tokenizer.error());
  if (tokenizer->is_object() && tokenizer->contains("chat_template")) {
    const json& own = (*tokenizer)["chat_template"];
    if (own.is_string()) generation.chat_template = own.get<std::string>();
    // Several, by name: the one for conversations is "default".
    for (const json& named : own.is_array() ? own : json::array()) {
      if (named.is_object() && named.value("name", json()) == "default" &&
          named.value("template", json()).is_string())
        generation.chat_template = named["template"].get<std::string>();
    }
  }
  return generation;
}

Result<Pooling> read_pooling(const std::string& folder) {
  Pooling pooling;
  const Result<json> modules = read_json(folder + "/modules.json");
  if (!modules) return std::unexpected(modules.error());
  for (const json& module : modules->is_array() ? *modules : json::array()) {
    const json type = module.is_object() ? module.value("type", json()) : json();
    if (type.is_string() && type.get<std::string>().ends_with(".Normalize"))
      pooling.normalised = true;
  }
  const std::string path = folder + "/1_Pooling/config.json";
  const Result<json> config = read_json(path);
  if (!config) return std::unexpected(config.error());
  if (!config->is_object()) return pooling;
  const auto flag = [&](const char* key) { return config->value(key, json()) == true; };
  if (flag("pooling_mode_cls_token")) {
    pooling.kind = Pooling::Kind::first;
  } else if (!flag("pooling_mode_mean_tokens")) {
    return failure(AXLE_UNSUPPORTED,
                   "%s: only the pooling modes cls_token and mean_tokens are supported",
                   path.c_str());
  }
  return pooling;
}

}  // namespace axle::runtime
