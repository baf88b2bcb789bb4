// encode_lines FILE: a tokenizer.json or a GGUF file. Reads questions from stdin, a JSON list a
// line, [text, whether control tokens in it count, whether the model's own go around it]; prints
// [tokens, their text, their text as a stream without control tokens]. For
// tokenizer_differential.py.
#include <cstdio>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "runtime/files/model_file.h"
#include "runtime/tokenizer/tokenizer.h"

namespace {

using namespace axle::runtime;
using nlohmann::json;

Result<Tokenizer> open(const std::string& path) {
  if (path.ends_with(".json")) {
    const auto text = read_text(path);
    if (!text) return std::unexpected(text.error());
    return Tokenizer::parse_json(*text, path);
  }
  const auto file = GgufFile::open(path);
  if (!file) return std::unexpected(file.error());
  return Tokenizer::from_gguf(read_vocabulary(*file), path);
}

json answer(const Tokenizer& tokenizer, const json& question) {
  const std::string text = question[0].get<std::string>();
  const Tokenizer::Piece piece{text, question[1].get<bool>()};
  const auto tokens = tokenizer.encode({&piece, 1}, question[2].get<bool>());
  if (!tokens) return tokens.error().message;
  TextStream stream(tokenizer);
  std::string streamed;
  for (const std::int32_t token : *tokens) streamed += stream.add(token);
  streamed += stream.finish();
  return {*tokens, tokenizer.decode(*tokens, true), streamed};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto tokenizer = open(argv[1]);
  if (!tokenizer) {
    std::cerr << tokenizer.error().message << "\n";
    return 1;
  }
  std::string line;
  while (std::getline(std::cin, line))
    std::cout << answer(*tokenizer, json::parse(line)).dump(-1, ' ', true) << "\n";
  return 0;
}
