#pragma once
// Small tokenizers for tests.

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/tokenizer/tokenizer.h"

namespace axle::runtime::testing {

/// Byte-level, as tokenizer.json has it: tokens of a few bytes and words, with these parts put in.
struct MadeJson {
  std::string pre_tokenizer = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})";
  std::string normalizer = "null";
  std::string post_processor = "null";
  std::string added = R"({"id":20,"content":"<|end|>","special":true,"normalized":false})";
  std::string model_extras;  ///< behind "type"
  std::string vocabulary =
      R"("a":0,"b":1,"c":2,"Ġ":3,"ab":4,"abc":5,"Ġab":6,"1":7,"Ã":8,"©":9,"Ã©":10,"bc":11,"Ġabc":12)";
  std::string merges = R"(["a","b"],["Ġ","ab"],"ab c",["Ã","©"],["Ġab","c"])";

  [[nodiscard]] std::string text() const {
    return R"({"model":{"type":"BPE")" + model_extras + R"(,"vocab":{)" + vocabulary +
           R"(},"merges":[)" + merges + R"(]},"pre_tokenizer":)" + pre_tokenizer +
           R"(,"normalizer":)" + normalizer + R"(,"post_processor":)" + post_processor +
           R"(,"added_tokens":[)" + added + "]}";
  }
};

inline Tokenizer opened(const std::string& text) {
  Result<Tokenizer> tokenizer = Tokenizer::parse_json(text, "tokenizer.json");
  REQUIRE_MESSAGE(tokenizer, tokenizer.error().message);
  return std::move(*tokenizer);
}

using Tokens = std::vector<std::int32_t>;

inline Tokens encoded(const Tokenizer& tokenizer, std::string_view text, bool parse_special = false,
                      bool add_special = false) {
  const Tokenizer::Piece piece{text, parse_special};
  Result<Tokens> tokens = tokenizer.encode({&piece, 1}, add_special);
  REQUIRE(tokens);
  return std::move(*tokens);
}

}  // namespace axle::runtime::testing
