#include "runtime/model/model.h"

#include <algorithm>
#include <memory>

#include <dirent.h>
#include <unistd.h>

#include "runtime/files/model_file.h"
#include "runtime/model/description/folder_files.h"

namespace axle::runtime {
namespace {

bool ends_with_gguf(const std::string& path) { return path.ends_with(".gguf"); }

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

/// The names of GGUF files in a folder, in their order.
std::vector<std::string> list_gguf_files(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(path.c_str()));
  if (!folder) return names;
  while (const dirent* const entry = readdir(folder.get())) {
    if (ends_with_gguf(entry->d_name)) names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The one GGUF file of a folder that is none of Hugging Face; else the path itself.
Result<std::string> find_gguf_file(const std::string& path) {
  if (exists(path + "/config.json")) return path;
  const std::vector<std::string> names = list_gguf_files(path);
  if (names.empty()) return path;
  if (names.size() > 1)
    return failure(AXLE_BAD_ARGUMENT,
                   "%s: the folder holds %zu GGUF files; name one, such as %s/%s", path.c_str(),
                   names.size(), path.c_str(), names.front().c_str());
  return path + "/" + names.front();
}

}  // namespace

const TensorSource& Model::tensors() const { return gguf_ ? gguf_->tensors() : folder_->tensors(); }

void Model::recognise_template(std::optional<std::string_view> text, const std::string& where) {
  if (text) {
    chat_template_ = ChatTemplate::recognise(*text, where);
  } else {
    chat_template_ =
        failure(AXLE_UNSUPPORTED,
                "%s: the model has no chat template; raw (`--raw` of the program) continues the "
                "prompt as it is",
                where.c_str());
  }
}

Result<void> Model::open_gguf(const std::string& path) {
  Result<GgufFile> file = GgufFile::open(path);
  if (!file) return std::unexpected(file.error());
  gguf_ = std::move(*file);
  Result<ModelShape> shape = read_shape(*gguf_);
  if (!shape) return std::unexpected(shape.error());
  shape_ = std::move(*shape);
  Result<Tokenizer> tokenizer = Tokenizer::from_gguf(read_vocabulary(*gguf_), path);
  if (!tokenizer) return std::unexpected(tokenizer.error());
  tokenizer_ = std::move(*tokenizer);
  recognise_template(gguf_->text("tokenizer.chat_template"), path);
  return {};
}

Result<void> Model::open_folder(const std::string& path) {
  const std::string config_path = path + "/config.json";
  const Result<std::string> config = read_text(config_path, largest_json_file);
  if (!config) return std::unexpected(config.error());
  Result<ModelShape> shape = parse_config(*config, config_path);
  if (!shape) return std::unexpected(shape.error());
  shape_ = std::move(*shape);
  Result<SafetensorsFolder> folder = SafetensorsFolder::open(path);
  if (!folder) return std::unexpected(folder.error());
  folder_ = std::move(*folder);
  const std::string tokenizer_path = path + "/tokenizer.json";
  const Result<std::string> text = read_text(tokenizer_path, largest_json_file);
  if (!text) return std::unexpected(text.error());
  Result<Tokenizer> tokenizer = Tokenizer::parse_json(*text, tokenizer_path);
  if (!tokenizer) return std::unexpected(tokenizer.error());
  tokenizer_ = std::move(*tokenizer);
  if (shape_.architecture == Architecture::encoder) {
    const Result<Pooling> pooling = read_pooling(path);
    if (!pooling) return std::unexpected(pooling.error());
    pooling_ = *pooling;
  }
  Result<FolderGeneration> generation = read_generation(path);
  if (!generation) return std::unexpected(generation.error());
  shape_.end_tokens.insert(shape_.end_tokens.end(), generation->end_tokens.begin(),
                           generation->end_tokens.end());
  recognise_template(generation->chat_template, path);
  return {};
}

Result<Model> Model::open(const std::string& given) {
  if (given.empty())
    return failure(AXLE_BAD_ARGUMENT, "the path of the model is empty; name a file or a folder");
  const Result<std::string> found = find_gguf_file(given);
  if (!found) return std::unexpected(found.error());
  const std::string& path = *found;
  Model model;
  const bool is_folder = exists(path + "/.");
  if (!is_folder && exists(path) && !ends_with_gguf(path)) {
    Result<ModelFile> file = ModelFile::open(path);
    if (!file) return std::unexpected(file.error());
    char magic[4] = {};
    const std::size_t there = std::min<std::size_t>(file->size(), sizeof magic);
    const Result<void> read = file->read(0, std::as_writable_bytes(std::span(magic, there)));
    if (!read) return std::unexpected(read.error());
    if (std::string_view(magic, there) != "GGUF")
      return failure(
          AXLE_MALFORMED,
          "%s: neither a GGUF file nor a folder; a model is a file that begins with \"GGUF\" "
          "or a folder with config.json and model.safetensors",
          path.c_str());
  }
  const Result<void> opened = is_folder ? model.open_folder(path) : model.open_gguf(path);
  if (!opened) return std::unexpected(opened.error());
  return model;
}

Result<std::vector<std::int32_t>> prompt_tokens(const Model& model, const std::string& prompt,
                                                bool raw) {
  const Tokenizer& tokenizer = model.tokenizer();
  if (raw) {
    const Tokenizer::Piece whole{prompt, true};
    return tokenizer.encode({&whole, 1}, true);
  }
  if (!model.chat_template()) return std::unexpected(model.chat_template().error());
  const Message message{"user", prompt};
  const Result<std::vector<TemplatePiece>> pieces = model.chat_template()->render({&message, 1});
  if (!pieces) return std::unexpected(pieces.error());
  std::vector<Tokenizer::Piece> texts;
  for (const TemplatePiece& piece : *pieces) texts.push_back({piece.text, piece.own});
  return tokenizer.encode(texts, false);
}

Result<void> check_makes_vectors(const Model& model) {
  const std::size_t classes = model.shape().classes;
  const char* const where = model.tensors().where().c_str();
  if (classes == 1)
    return failure(AXLE_UNSUPPORTED,
                   "%s: the model is a reranker, which scores a text against a query and makes no "
                   "vectors; `variant model rerank` is for it (rerank in Python)",
                   where);
  if (classes != 0)
    return failure(AXLE_UNSUPPORTED,
                   "%s: the model was trained to tell %zu classes apart and makes no vectors; "
                   "classifiers are not supported, but rerankers, which have one class",
                   where, classes);
  return {};
}

Result<std::vector<TokenPair>> reranked_pairs(const Model& model, std::string_view query,
                                              std::span<const std::string> texts) {
  const char* const where = model.tensors().where().c_str();
  if (model.shape().classes != 1)
    return failure(AXLE_UNSUPPORTED,
                   "%s: the model is no reranker; that is a \"BertForSequenceClassification\" "
                   "(\"architectures\" of config.json) of one class",
                   where);
  std::vector<TokenPair> pairs;
  for (const std::string& text : texts) {
    Result<TokenPair> pair = model.tokenizer().encode_pair({query, true}, {text, true});
    if (!pair) return failure(pair.error().status, "%s: %s", where, pair.error().message.c_str());
    pairs.push_back(std::move(*pair));
  }
  return pairs;
}

}  // namespace axle::runtime
