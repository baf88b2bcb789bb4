#include "runtime/model/model.h"

#include <unistd.h>

#include "runtime/files/mapped_file.h"
#include "runtime/model/folder_files.h"

namespace axle::runtime {
namespace {

std::optional<std::int32_t> token_id(const GgufFile& file, const char* key) {
  const std::optional<std::uint64_t> id = file.count(key);
  if (!id || *id > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(*id);
}

Result<Tokenizer> read_tokenizer(const GgufFile& file) {
  GgufVocabulary vocabulary;
  vocabulary.model = file.text("tokenizer.ggml.model").value_or("");
  vocabulary.split = file.text("tokenizer.ggml.pre").value_or("default");
  const auto tokens = file.texts("tokenizer.ggml.tokens");
  if (!tokens)
    return failure(AXLE_MALFORMED, "%s: there is no metadata \"tokenizer.ggml.tokens\"",
                   file.path().c_str());
  vocabulary.tokens = *tokens;
  vocabulary.types =
      file.integers("tokenizer.ggml.token_type").value_or(std::vector<std::int64_t>());
  vocabulary.merges = file.texts("tokenizer.ggml.merges").value_or(std::vector<std::string_view>());
  vocabulary.begin = token_id(file, "tokenizer.ggml.bos_token_id");
  vocabulary.end = token_id(file, "tokenizer.ggml.eos_token_id");
  // llama.cpp puts Llama 3's first token before a text even where the file does not ask for it.
  const bool llama3 = vocabulary.split == "llama-bpe" || vocabulary.split == "llama3";
  vocabulary.add_begin = file.flag("tokenizer.ggml.add_bos_token").value_or(llama3);
  vocabulary.add_end = file.flag("tokenizer.ggml.add_eos_token").value_or(false);
  return Tokenizer::from_gguf(vocabulary, file.path());
}

bool ends_with_gguf(const std::string& path) { return path.ends_with(".gguf"); }

}  // namespace

const TensorSource& Model::tensors() const { return gguf_ ? gguf_->tensors() : folder_->tensors(); }

void Model::recognise_template(std::optional<std::string_view> text, const std::string& where) {
  if (text) {
    chat_template_ = ChatTemplate::recognise(*text, where);
  } else {
    chat_template_ =
        failure(AXLE_UNSUPPORTED,
                "%s: the model has no chat template; `--raw` continues the prompt as it "
                "is",
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
  Result<Tokenizer> tokenizer = read_tokenizer(*gguf_);
  if (!tokenizer) return std::unexpected(tokenizer.error());
  tokenizer_ = std::move(*tokenizer);
  recognise_template(gguf_->text("tokenizer.chat_template"), path);
  return {};
}

Result<void> Model::open_folder(const std::string& path) {
  const std::string config_path = path + "/config.json";
  const Result<MappedFile> config = MappedFile::open(config_path);
  if (!config) return std::unexpected(config.error());
  Result<ModelShape> shape = parse_config(config->text(), config_path);
  if (!shape) return std::unexpected(shape.error());
  shape_ = std::move(*shape);
  Result<SafetensorsFolder> folder = SafetensorsFolder::open(path);
  if (!folder) return std::unexpected(folder.error());
  folder_ = std::move(*folder);
  const std::string tokenizer_path = path + "/tokenizer.json";
  const Result<MappedFile> text = MappedFile::open(tokenizer_path);
  if (!text) return std::unexpected(text.error());
  Result<Tokenizer> tokenizer = Tokenizer::parse_json(text->text(), tokenizer_path);
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

Result<Model> Model::open(const std::string& path) {
  Model model;
  const bool is_folder = access((path + "/.").c_str(), F_OK) == 0;
  if (!is_folder && access(path.c_str(), F_OK) == 0 && !ends_with_gguf(path)) {
    const Result<MappedFile> file = MappedFile::open(path);
    if (!file) return std::unexpected(file.error());
    if (!file->text().starts_with("GGUF"))
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

}  // namespace axle::runtime
