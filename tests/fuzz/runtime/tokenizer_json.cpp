// tokenizer.json up to a NUL, then a text: its tokens, and their text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/unicode.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::runtime;
  using axle::fuzz::require;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\0');
  const Result<Tokenizer> tokenizer = Tokenizer::parse_json(all.substr(0, end), "fuzz");
  if (!tokenizer) {
    require(!tokenizer.error().message.empty());
    return 0;
  }
  const std::string_view text = end == std::string_view::npos ? all : all.substr(end + 1);
  for (const bool special : {false, true}) {
    const Tokenizer::Piece piece{text, special};
    const auto tokens = tokenizer->encode({&piece, 1}, special);
    require(tokens.has_value());
    TextStream stream(*tokenizer);
    std::string streamed;
    for (const std::int32_t token : *tokens) {
      require(token >= 0 && static_cast<std::size_t>(token) < tokenizer->size());
      streamed += stream.add(token);
    }
    streamed += stream.finish();
    require(streamed == tokenizer->decode(*tokens, false));
    require(is_utf8(tokenizer->decode(*tokens, true)));
  }
  return 0;
}
