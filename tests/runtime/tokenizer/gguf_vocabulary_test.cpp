#include "runtime/tokenizer/gguf_vocabulary.h"

#include <doctest/doctest.h>

#include "tests/runtime/files/made_file.h"
#include "tests/runtime/tokenizer/made_tokenizer.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

GgufVocabulary smollm() {
  GgufVocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.split = "smollm";
  vocabulary.tokens = {"<|end|>",
                       "a",
                       "b",
                       "ab",
                       "\xc4\xa0",
                       "\xc4\xa0"
                       "ab",
                       "1",
                       "<added>"};
  vocabulary.types = {3, 1, 1, 1, 1, 1, 1, 4};
  vocabulary.merges = {"a b", "\xc4\xa0 ab"};
  vocabulary.begin = 0;
  vocabulary.end = 7;
  return vocabulary;
}

Tokenizer opened(const GgufVocabulary& vocabulary) {
  Result<Tokenizer> tokenizer = Tokenizer::from_gguf(vocabulary, "m.gguf");
  REQUIRE_MESSAGE(tokenizer, tokenizer.error().message);
  return std::move(*tokenizer);
}

std::string error_of(const GgufVocabulary& vocabulary) {
  const Result<Tokenizer> tokenizer = Tokenizer::from_gguf(vocabulary, "m.gguf");
  return tokenizer ? "" : tokenizer.error().message;
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("GGUF vocabulary: byte pairs") {
  GgufVocabulary vocabulary = smollm();
  CHECK(encoded(opened(vocabulary), "ab ab11<|end|>", true, true) == Tokens{3, 5, 6, 6, 0});
  CHECK(encoded(opened(vocabulary), "a<added>b<|end|>") == Tokens{1, 7, 2});
  CHECK(opened(vocabulary).decode(Tokens{0, 3, 5}, false) == "ab ab");
  vocabulary.add_begin = true;
  vocabulary.add_end = true;
  CHECK(encoded(opened(vocabulary), "a", false, true) == Tokens{0, 1, 7});
  vocabulary.types.clear();
  CHECK(encoded(opened(vocabulary), "ab") == Tokens{3});
}

TEST_CASE("GGUF vocabulary: word pieces, as llama.cpp's converter writes them") {
  const std::string space = "\xe2\x96\x81";
  const std::string word = space + "un";
  GgufVocabulary vocabulary;
  vocabulary.model = "bert";
  vocabulary.tokens = {"[UNK]", "[CLS]", "[SEP]", word, "able"};
  vocabulary.types = {2, 3, 3, 1, 1};
  vocabulary.first = 1;
  vocabulary.separator = 2;
  const Tokenizer tokenizer = opened(vocabulary);
  CHECK(encoded(tokenizer, "Unable x", false, true) == Tokens{1, 3, 4, 0, 2});
  CHECK(tokenizer.decode(Tokens{1, 3, 4, 3, 2}, false) == "unable un");
  vocabulary.unknown = 5;
  CHECK(mentions(error_of(vocabulary), "names token 5; there are 5"));
  vocabulary.unknown.reset();
  vocabulary.tokens[0] = "x";
  CHECK(mentions(error_of(vocabulary), "unknown_token_id"));
}

TEST_CASE("GGUF vocabulary: as a file has it") {
  constexpr std::uint32_t uint32 = 4;
  constexpr std::uint32_t int32 = 5;
  constexpr std::uint32_t boolean = 7;
  constexpr std::uint32_t string = 8;
  GgufParts parts;
  parts.values = {gguf_value("tokenizer.ggml.model", string, gguf_text("gpt2")),
                  gguf_value("tokenizer.ggml.pre", string, gguf_text("llama-bpe")),
                  gguf_array("tokenizer.ggml.tokens", string, 2, gguf_text("a") + gguf_text("<s>")),
                  gguf_array("tokenizer.ggml.token_type", int32, 2,
                             raw(std::int32_t{1}) + raw(std::int32_t{3})),
                  gguf_value("tokenizer.ggml.bos_token_id", uint32, raw(std::uint32_t{1})),
                  gguf_value("tokenizer.ggml.eos_token_id", uint32, raw(UINT32_MAX))};
  const auto read = [&] {
    const std::string bytes = parts.bytes();
    const Result<GgufFile> file = GgufFile::read(ModelFile::in_memory(bytes_of(bytes), "m.gguf"));
    REQUIRE(file);
    return encoded(opened(read_vocabulary(*file)), "a<s>", true, true);
  };
  // Llama 3's first token is wanted unless the file says otherwise.
  CHECK(read() == Tokens{1, 0, 1});
  parts.values.push_back(gguf_value("tokenizer.ggml.add_bos_token", boolean, std::string(1, '\0')));
  CHECK(read() == Tokens{0, 1});
}

TEST_CASE("GGUF vocabulary: what is wrong or not known") {
  GgufVocabulary vocabulary = smollm();
  vocabulary.model = "llama";
  CHECK(mentions(error_of(vocabulary), "a tokenizer of model \"llama\" is not supported"));
  vocabulary = smollm();
  vocabulary.split = "jais-2";
  CHECK(mentions(error_of(vocabulary), "the pre-tokenizer \"jais-2\""));
  vocabulary.split = "";
  CHECK(mentions(error_of(vocabulary), "does not say how text is split"));
  vocabulary = smollm();
  vocabulary.types.pop_back();
  CHECK(mentions(error_of(vocabulary), "8 tokens have 7 types"));
  vocabulary = smollm();
  vocabulary.merges = {"ab"};
  CHECK(mentions(error_of(vocabulary), "\"ab\" has no space"));
  vocabulary.merges = {"a zz"};
  CHECK(mentions(error_of(vocabulary), "\"a\" and \"zz\""));
  vocabulary = smollm();
  vocabulary.add_begin = true;
  vocabulary.begin = 8;
  CHECK(mentions(error_of(vocabulary), "names token 8; there are 8"));
  vocabulary.tokens.clear();
  CHECK(mentions(error_of(vocabulary), "tokenizer.ggml.tokens"));
}

}  // namespace
