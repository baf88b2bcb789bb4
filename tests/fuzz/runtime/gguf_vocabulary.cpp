// A GGUF vocabulary as lines: model, split, text, then one token a line with its type before it,
// merges behind an empty line.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/tokenizer/tokenizer.h"
#include "tests/fuzz/require.h"

namespace {

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::runtime;
  using axle::fuzz::require;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  GgufVocabulary vocabulary;
  vocabulary.model = take_line(rest);
  vocabulary.split = take_line(rest);
  const std::string_view text = take_line(rest);
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.empty()) break;
    vocabulary.types.push_back(line[0] - '0');
    vocabulary.tokens.push_back(line.substr(1));
  }
  while (!rest.empty()) vocabulary.merges.push_back(take_line(rest));
  vocabulary.begin = 0;
  vocabulary.end = 1;
  vocabulary.add_begin = vocabulary.add_end = true;
  const Result<Tokenizer> tokenizer = Tokenizer::from_gguf(vocabulary, "fuzz");
  if (!tokenizer) {
    require(!tokenizer.error().message.empty());
    return 0;
  }
  const Tokenizer::Piece piece{text, true};
  const auto tokens = tokenizer->encode({&piece, 1}, true);
  require(tokens.has_value());
  for (const std::int32_t token : *tokens)
    require(token >= 0 && static_cast<std::size_t>(token) < tokenizer->size());
  return 0;
}
