#include "runtime/model/description/folder_files.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "runtime/files/model_file.h"
#include "runtime/json_tree.h"

namespace axle::runtime {
namespace {

using nlohmann::json;

/// Nothing where the file is absent.
Result<std::optional<JsonTree>> read_json(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return std::optional<JsonTree>();
  const Result<std::string> text = read_text(path, largest_json_file);
  if (!text) return std::unexpected(text.error());
  Result<JsonTree> tree = JsonTree::parse(*text, path);
  if (!tree) return std::unexpected(tree.error());
  if (!tree->root().is_object() && !tree->root().is_array())
    return failure(AXLE_MALFORMED, "%s: not a JSON object or list", path.c_str());
  return std::optional<JsonTree>(std::move(*tree));
}

/// Null where `from` is no object or has no such member.
const json* member_of(const json& from, const char* key) {
  if (!from.is_object()) return nullptr;
  const auto found = from.find(key);
  return found == from.end() ? nullptr : &*found;
}

/// The same of a file that may be absent.
const json* member_of(const std::optional<JsonTree>& file, const char* key) {
  return file ? member_of(file->root(), key) : nullptr;
}

const std::string* text_of(const json* value) {
  return value != nullptr && value->is_string() ? value->get_ptr<const std::string*>() : nullptr;
}

void take_end_tokens(const json& value, std::vector<std::int32_t>& tokens) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= INT32_MAX)
    tokens.push_back(value.get<std::int32_t>());
  if (!value.is_array()) return;
  for (const json& id : value) {
    if (!id.is_array()) take_end_tokens(id, tokens);
  }
}

/// Of tokenizer_config.json: a text, or several by name, where the one for conversations is
/// "default".
const std::string* find_template(const json* value) {
  if (value == nullptr || !value->is_array()) return text_of(value);
  const std::string* found = nullptr;
  for (const json& named : *value) {
    const std::string* const name = text_of(member_of(named, "name"));
    const std::string* const own = text_of(member_of(named, "template"));
    if (name != nullptr && own != nullptr && *name == "default") found = own;
  }
  return found;
}

}  // namespace

Result<FolderGeneration> read_generation(const std::string& folder) {
  FolderGeneration generation;
  const Result<std::optional<JsonTree>> config = read_json(folder + "/generation_config.json");
  if (!config) return std::unexpected(config.error());
  const json* const end = member_of(*config, "eos_token_id");
  if (end != nullptr) take_end_tokens(*end, generation.end_tokens);
  const std::string jinja = folder + "/chat_template.jinja";
  if (access(jinja.c_str(), F_OK) == 0) {
    Result<std::string> text = read_text(jinja, largest_json_file);
    if (!text) return std::unexpected(text.error());
    generation.chat_template = std::move(*text);
    return generation;
  }
  const Result<std::optional<JsonTree>> tokenizer = read_json(folder + "/tokenizer_config.json");
  if (!tokenizer) return std::unexpected(tokenizer.error());
  const std::string* const own = find_template(member_of(*tokenizer, "chat_template"));
  if (own != nullptr) generation.chat_template = *own;
  return generation;
}

Result<Pooling> read_pooling(const std::string& folder) {
  Pooling pooling;
  const Result<std::optional<JsonTree>> modules = read_json(folder + "/modules.json");
  if (!modules) return std::unexpected(modules.error());
  const bool is_list = *modules && (*modules)->root().is_array();
  for (std::size_t i = 0; is_list && i < (*modules)->root().size(); ++i) {
    const std::string* const type = text_of(member_of((*modules)->root()[i], "type"));
    if (type != nullptr && type->ends_with(".Normalize")) pooling.normalised = true;
  }
  const std::string path = folder + "/1_Pooling/config.json";
  const Result<std::optional<JsonTree>> config = read_json(path);
  if (!config) return std::unexpected(config.error());
  if (!*config || !(*config)->root().is_object()) return pooling;
  const auto flag = [&](const char* key) {
    const json* const value = member_of(*config, key);
    return value != nullptr && value->is_boolean() && value->get<bool>();
  };
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
