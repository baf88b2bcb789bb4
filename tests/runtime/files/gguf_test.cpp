#include "runtime/files/gguf.h"

#include <doctest/doctest.h>

#include "tests/runtime/files/made_file.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

struct Refused {
  std::string what;
  std::string file;
  axle_status status;
  const char* message;  ///< a part of it
};

Result<GgufFile> open(const std::string& file) {
  return GgufFile::read(ModelFile::in_memory(bytes_of(file), "m.gguf"));
}

constexpr std::uint32_t f32 = 0;
constexpr std::uint32_t q8_0 = 8;

std::string of_values(std::vector<std::string> values, std::uint64_t claimed = UINT64_MAX) {
  GgufParts parts;
  parts.values = std::move(values);
  parts.claimed_values = claimed;
  return parts.bytes();
}

std::string of_tensors(std::vector<std::string> tensors, std::size_t data = 128,
                       std::vector<std::string> values = {}) {
  GgufParts parts;
  parts.values = std::move(values);
  parts.tensors = std::move(tensors);
  parts.data = std::string(data, 'd');
  return parts.bytes();
}

std::string of_version(std::uint32_t version) {
  GgufParts parts;
  parts.version = version;
  return parts.bytes();
}

std::vector<Refused> refused_heads() {
  GgufParts claims;
  claims.claimed_tensors = std::uint64_t{1} << 40U;
  GgufParts one_tensor;
  one_tensor.claimed_tensors = 1;
  const std::string one = raw(std::uint32_t{1});
  return {
      {"nothing", "", AXLE_MALFORMED, "the file ends in the magic number, at byte 0"},
      {"another format", "PK\3\4 and so on", AXLE_MALFORMED, "not a GGUF file"},
      {"version 1", of_version(1), AXLE_UNSUPPORTED, "GGUF version 1 is not supported"},
      {"version 0", of_version(0), AXLE_UNSUPPORTED, "GGUF version 0 is not supported"},
      {"version 4", of_version(4), AXLE_UNSUPPORTED, "GGUF version 4 is not supported"},
      {"big-endian", of_version(0x03000000), AXLE_UNSUPPORTED, "big-endian"},
      {"tensors without end", claims.bytes(), AXLE_MALFORMED, "1099511627776 tensors and 0"},
      {"values without end", of_values({}, std::uint64_t{1} << 40U), AXLE_MALFORMED,
       "0 tensors and 1099511627776 metadata values"},
      {"no value", of_values({}, 1), AXLE_MALFORMED, "ends in the key of a metadata value"},
      {"no tensor", one_tensor.bytes(), AXLE_MALFORMED, "ends in the name of a tensor"},
      {"key beyond the end", of_values({raw(UINT64_MAX) + "key"}), AXLE_MALFORMED,
       "ends in the key of a metadata value"},
      {"endless key", of_values({gguf_value(std::string(65536, 'k'), 4, one)}), AXLE_MALFORMED,
       "the key of a metadata value has 65536 bytes"},
      {"no type", of_values({gguf_text("k")}), AXLE_MALFORMED, "the type of a metadata value"},
      {"unknown type", of_values({gguf_value("k", 13, one)}), AXLE_UNSUPPORTED,
       "metadata \"k\" is of type 13"},
      {"value cut", of_values({gguf_value("k", 10, one)}), AXLE_MALFORMED, "a metadata value"},
      {"text beyond the end", of_values({gguf_value("k", 8, raw(UINT64_MAX - 7) + "text")}),
       AXLE_MALFORMED, "ends in a metadata string"},
      {"array of arrays", of_values({gguf_array("k", 9, 1, "")}), AXLE_UNSUPPORTED,
       "metadata \"k\" is of type 9"},
      {"array without length", of_values({gguf_value("k", 9, one)}), AXLE_MALFORMED,
       "the length of a metadata array"},
      {"product beyond 64 bits", of_values({gguf_array("k", 10, UINT64_MAX / 8 + 2, "")}),
       AXLE_MALFORMED, "ends in a metadata value"},
      {"array of 2^64 texts", of_values({gguf_array("k", 8, UINT64_MAX, gguf_text("a"))}),
       AXLE_MALFORMED, "ends in a metadata string"},
      {"key twice", of_values({gguf_value("k", 4, one), gguf_value("k", 4, one)}), AXLE_MALFORMED,
       "metadata \"k\" is there twice"},
      {"alignment 0", of_values({gguf_value("general.alignment", 4, raw(std::uint32_t{0}))}),
       AXLE_MALFORMED, "\"general.alignment\" is no power of two"},
      {"alignment 48", of_values({gguf_value("general.alignment", 4, raw(std::uint32_t{48}))}),
       AXLE_MALFORMED, "\"general.alignment\" is no power of two"},
      {"alignment 2^31", of_values({gguf_value("general.alignment", 4, raw(1U << 31U))}),
       AXLE_MALFORMED, "\"general.alignment\" is no power of two"},
      {"alignment a text", of_values({gguf_value("general.alignment", 8, gguf_text("32"))}),
       AXLE_MALFORMED, "\"general.alignment\" is no power of two"},
  };
}

std::vector<Refused> refused_tensors() {
  const std::uint64_t huge = std::uint64_t{1} << 32U;
  return {
      {"five dimensions", of_tensors({gguf_tensor("x", {1, 1, 1, 1, 1}, f32, 0)}), AXLE_MALFORMED,
       "tensor \"x\" has 5 dimensions"},
      {"unknown type", of_tensors({gguf_tensor("x", {32}, 99, 0)}), AXLE_UNSUPPORTED,
       "tensor \"x\" is of ggml's type ? (99), which is not supported"},
      {"a type that is not read", of_tensors({gguf_tensor("x", {32}, 23, 0)}), AXLE_UNSUPPORTED,
       "tensor \"x\" is of ggml's type IQ4_XS (23), which is not supported"},
      {"half a block", of_tensors({gguf_tensor("x", {48, 2}, q8_0, 0)}), AXLE_MALFORMED,
       "tensor \"x\": its shape is no whole number of blocks of q8_0"},
      {"a scalar in blocks", of_tensors({gguf_tensor("x", {}, q8_0, 0)}), AXLE_MALFORMED,
       "tensor \"x\": its shape is no whole number of blocks of q8_0"},
      {"product beyond 64 bits", of_tensors({gguf_tensor("x", {huge, huge}, f32, 0)}),
       AXLE_MALFORMED, "tensor \"x\": its shape is no whole number"},
      {"between two places", of_tensors({gguf_tensor("x", {4}, f32, 16)}), AXLE_MALFORMED,
       "tensor \"x\" does not lie at a multiple of 32"},
      {"beyond the end", of_tensors({gguf_tensor("x", {33}, f32, 0)}), AXLE_MALFORMED,
       "tensor \"x\" goes on behind the end"},
      {"offset beyond the end", of_tensors({gguf_tensor("x", {1}, f32, 128)}), AXLE_MALFORMED,
       "tensor \"x\" goes on behind the end"},
      {"offset near 2^64", of_tensors({gguf_tensor("x", {32}, f32, UINT64_MAX - 31)}),
       AXLE_MALFORMED, "tensor \"x\" goes on behind the end"},
      {"no data", of_tensors({gguf_tensor("x", {1}, f32, 0)}, 0), AXLE_MALFORMED,
       "tensor \"x\" goes on behind the end"},
      {"name twice", of_tensors({gguf_tensor("x", {1}, f32, 0), gguf_tensor("x", {1}, f32, 32)}),
       AXLE_MALFORMED, "tensor \"x\" is there twice"},
      {"overlap",
       of_tensors({gguf_tensor("x", {9}, f32, 0), gguf_tensor("none", {0}, f32, 32),
                   gguf_tensor("y", {1}, f32, 32)}),
       AXLE_MALFORMED, "tensors \"x\" and \"y\" lie over one another"},
      {"the same place",
       of_tensors({gguf_tensor("x", {1}, f32, 32), gguf_tensor("y", {1}, f32, 32)}), AXLE_MALFORMED,
       "lie over one another"},
      {"endless name", of_tensors({gguf_tensor(std::string(65536, 'n'), {1}, f32, 0)}),
       AXLE_MALFORMED, "the name of a tensor has 65536 bytes"},
      {"a long name", of_tensors({gguf_tensor(std::string(65535, 'n'), {1}, 4, 0)}),
       AXLE_UNSUPPORTED, "is of ggml's type Q4_2 (4)"},
      {"control characters", of_tensors({gguf_tensor("\x1b[2J\n\xff\xc2\x9b", {1}, 4, 0)}),
       AXLE_UNSUPPORTED, "tensor \"?[2J????\" is"},
  };
}

TEST_CASE("a GGUF file that is not what the format says is refused by name and reason") {
  for (const auto& files : {refused_heads(), refused_tensors()}) {
    for (const Refused& refused : files) {
      CAPTURE(refused.what);
      const Result<GgufFile> result = open(refused.file);
      REQUIRE_FALSE(result.has_value());
      CAPTURE(result.error().message);
      CHECK(result.error().status == refused.status);
      CHECK(result.error().message.starts_with("m.gguf: "));
      CHECK(result.error().message.find(refused.message) != std::string::npos);
      CHECK(result.error().message.size() < 1100);
    }
  }
}

std::string every_value() {
  std::string texts;
  for (const char* text : {"a", "", "\xc3\xa4"}) texts += gguf_text(text);
  GgufParts parts;
  parts.alignment = 64;
  parts.values = {
      gguf_value("u8", 0, raw(std::uint8_t{255})),
      gguf_value("i8", 1, raw(std::int8_t{-1})),
      gguf_value("u16", 2, raw(std::uint16_t{65535})),
      gguf_value("i16", 3, raw(std::int16_t{-1})),
      gguf_value("u32", 4, raw(UINT32_MAX)),
      gguf_value("i32", 5, raw(std::int32_t{-1})),
      gguf_value("f32", 6, raw(1.5F)),
      gguf_value("yes", 7, raw(std::uint8_t{1})),
      gguf_value("text", 8, gguf_text("some text")),
      gguf_value("u64", 10, raw(std::uint64_t{INT64_MAX})),
      gguf_value("too_large", 10, raw(UINT64_MAX)),
      gguf_value("i64", 11, raw(std::int64_t{-2})),
      gguf_value("f64", 12, raw(0.1)),
      gguf_array("texts", 8, 3, texts),
      gguf_array("integers", 3, 2, raw(std::int16_t{-3}) + raw(std::int16_t{4})),
      gguf_array("floats", 6, 2, raw(-1.0F) + raw(2.0F)),
      gguf_array("nothing", 6, 0, ""),
      gguf_value("general.alignment", 4, raw(std::uint32_t{64})),
  };
  parts.tensors = {gguf_tensor("x", {2, 3}, f32, 0), gguf_tensor("y", {32, 1, 2}, q8_0, 64)};
  parts.data = std::string(64, 'x') + std::string(68, 'y');
  return parts.bytes();
}

TEST_CASE("metadata of a GGUF file is found by key and kind") {
  const std::string bytes = every_value();
  const Result<GgufFile> file = open(bytes);
  REQUIRE(file.has_value());
  CHECK(file->count("u8") == 255);
  CHECK(file->count("u16") == 65535);
  CHECK(file->count("u32") == UINT32_MAX);
  CHECK(file->count("u64") == INT64_MAX);
  for (const char* key :
       {"i8", "i16", "i32", "i64", "too_large", "f32", "yes", "text", "integers", "none"}) {
    CAPTURE(key);
    CHECK_FALSE(file->count(key).has_value());
  }
  CHECK(file->number("i8") == -1);
  CHECK(file->number("i16") == -1);
  CHECK(file->number("i32") == -1);
  CHECK(file->number("i64") == -2);
  CHECK(file->number("f32") == 1.5);
  CHECK(file->number("f64") == 0.1);
  CHECK_FALSE(file->number("text").has_value());
  CHECK(file->flag("yes") == true);
  CHECK_FALSE(file->flag("u8").has_value());
  CHECK(file->text("text") == "some text");
  CHECK_FALSE(file->text("texts").has_value());
  CHECK(file->texts("texts") == std::vector<std::string_view>{"a", "", "\xc3\xa4"});
  CHECK(file->integers("integers") == std::vector<std::int64_t>{-3, 4});
  CHECK(file->floats("floats") == std::vector<float>{-1, 2});
  CHECK(file->floats("nothing") == std::vector<float>{});
  CHECK_FALSE(file->integers("floats").has_value());
  CHECK(file->has("yes"));
  CHECK_FALSE(file->has("no"));
}

TEST_CASE("tensors of a GGUF file lie where it says, outermost length first") {
  const Folder folder;
  const std::string path = folder.write("m.gguf", every_value());
  Result<GgufFile> opened = GgufFile::open(path);
  REQUIRE(opened.has_value());
  const GgufFile file = std::move(*opened);
  CHECK(file.path() == path);
  REQUIRE(file.tensors().tensors().size() == 2);
  const Tensor* const x = file.tensors().find("x");
  REQUIRE(x != nullptr);
  CHECK(x->shape == std::vector<std::size_t>{3, 2});
  CHECK(text_of(*x) == std::string(24, 'x'));
  const Tensor* const y = file.tensors().find("y");
  REQUIRE(y != nullptr);
  CHECK(y->shape == std::vector<std::size_t>{2, 1, 32});
  CHECK(y->rows() == 2);
  CHECK(text_of(*y) == std::string(68, 'y'));
}

TEST_CASE("version 2 reads as version 3 does") { CHECK(open(of_version(2)).has_value()); }

TEST_CASE("every beginning of a GGUF file is refused") {
  const std::string whole = every_value();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(open(whole.substr(0, size)).has_value());
  }
}

TEST_CASE("a million texts are views of one copy of the metadata") {
  std::string texts;
  for (std::uint32_t i = 0; i < 1'000'000; ++i) texts += gguf_text(std::to_string(i));
  const std::string bytes = of_values({gguf_array("tokens", 8, 1'000'000, texts)});
  const Result<GgufFile> file = open(bytes);
  REQUIRE(file.has_value());
  const auto tokens = file->texts("tokens");
  REQUIRE(tokens.has_value());
  REQUIRE(tokens->size() == 1'000'000);
  CHECK(tokens->back() == "999999");
  CHECK(tokens->back().data() - tokens->front().data() ==
        static_cast<std::ptrdiff_t>(texts.size() - 6 - 8));
}

}  // namespace
