#include "runtime/files/tensor.h"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include "runtime/half.h"
#include "tests/runtime/files/made_file.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

/// A block as one number of many bits: bit 8 i + k is bit k of byte i.
class Bits {
 public:
  explicit Bits(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] int take(std::size_t first, std::size_t count) const {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = first + i;
      const int bit = (static_cast<unsigned char>(bytes_[at / 8]) >> (at % 8)) & 1;
      value |= bit << i;
    }
    return value;
  }
  [[nodiscard]] double half(std::size_t byte) const {
    const int fraction = take(8 * byte, 10);
    const int exponent = take(8 * byte + 10, 5);
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return take(8 * byte + 15, 1) != 0 ? -magnitude : magnitude;
  }
  [[nodiscard]] int signed_byte(std::size_t byte) const {
    const int value = take(8 * byte, 8);
    return value < 128 ? value : value - 256;
  }

 private:
  std::string_view bytes_;
};

/// Weight i of 32 in nibbles: those of one byte are 16 weights apart.
int nibble_of_32(const Bits& block, std::size_t start, std::size_t i) {
  return block.take(8 * (start + i % 16) + 4 * (i / 16), 4);
}

/// Weight i of 256 in nibbles: those of one byte are 32 weights apart.
int nibble_of_256(const Bits& block, std::size_t start, std::size_t i) {
  return block.take(8 * (start + i / 64 * 32 + i % 32) + 4 * (i / 32 % 2), 4);
}

double q4_or_q5_k(const Bits& block, std::size_t i, bool fifth) {
  const std::size_t part = i / 32;
  int scale = 0;
  int least = 0;
  if (part < 4) {
    scale = block.take(8 * (4 + part), 6);
    least = block.take(8 * (8 + part), 6);
  } else {
    scale = block.take(8 * (8 + part), 4) + 16 * block.take(8 * part + 6, 2);
    least = block.take(8 * (8 + part) + 4, 4) + 16 * block.take(8 * (4 + part) + 6, 2);
  }
  int value = nibble_of_256(block, fifth ? 48 : 16, i);
  if (fifth) value += 16 * block.take(8 * (16 + i % 32) + part, 1);
  return block.half(0) * scale * value - block.half(2) * least;
}

double q6_k(const Bits& block, std::size_t i) {
  const std::size_t half = i / 128;
  const std::size_t quarter = i / 32 % 4;
  const int low = block.take(8 * (half * 64 + i % 64) + (quarter < 2 ? 0U : 4U), 4);
  const int high = block.take(8 * (128 + half * 32 + i % 32) + 2 * quarter, 2);
  return block.half(208) * block.signed_byte(192 + i / 16) * (low + 16 * high - 32);
}

struct BlockForm {
  TensorType type;
  std::vector<std::size_t> halves;  ///< places of the float16 numbers
  double (*weight)(const Bits&, std::size_t);
};

/// From the description of the blocks (ggml-common.h), weight by weight, in double.
const std::vector<BlockForm> block_forms{
    {TensorType::q8_0,
     {0},
     [](const Bits& block, std::size_t i) { return block.half(0) * block.signed_byte(2 + i); }},
    {TensorType::q4_0,
     {0},
     [](const Bits& block, std::size_t i) {
       return block.half(0) * (nibble_of_32(block, 2, i) - 8);
     }},
    {TensorType::q4_1,
     {0, 2},
     [](const Bits& block, std::size_t i) {
       return block.half(0) * nibble_of_32(block, 4, i) + block.half(2);
     }},
    {TensorType::q5_0,
     {0},
     [](const Bits& block, std::size_t i) {
       return block.half(0) * (nibble_of_32(block, 6, i) + 16 * block.take(16 + i, 1) - 16);
     }},
    {TensorType::q4_k,
     {0, 2},
     [](const Bits& block, std::size_t i) { return q4_or_q5_k(block, i, false); }},
    {TensorType::q5_k,
     {0, 2},
     [](const Bits& block, std::size_t i) { return q4_or_q5_k(block, i, true); }},
    {TensorType::q6_k, {208}, q6_k}};

std::string random_bytes(std::mt19937& random, std::size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() & 0xffU);
  return bytes;
}

/// Random blocks whose halves are finite.
std::string random_blocks(std::mt19937& random, const BlockForm& form, std::size_t count) {
  const std::size_t size = row(form.type).block_bytes;
  std::string bytes = random_bytes(random, count * size);
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::size_t at : form.halves) {
      char& high = bytes[i * size + at + 1];
      if ((high & 0x7c) == 0x7c) high = static_cast<char>(high & ~0x40);
    }
  }
  return bytes;
}

/// A tensor in memory.
struct Made {
  Made(TensorType type, std::vector<std::size_t> shape, std::string_view bytes)
      : file(ModelFile::in_memory(bytes_of(bytes), "made")),
        tensor{.name = "x",
               .type = type,
               .shape = std::move(shape),
               .file = &file,
               .bytes = bytes.size()} {}

  void read(std::size_t first, std::size_t count, float* to) const {
    REQUIRE(read_rows(tensor, first, count, to).has_value());
  }

  ModelFile file;
  Tensor tensor;
};

TEST_CASE("each block of ggml's is the numbers of its description, rounded once") {
  std::mt19937 random(5);
  for (const BlockForm& form : block_forms) {
    const TensorTypeRow& kind = row(form.type);
    CAPTURE(kind.name);
    constexpr std::size_t rows = 40;
    const std::size_t columns = 2 * kind.block_weights;
    const std::string bytes = random_blocks(random, form, rows * 2);
    REQUIRE(tensor_bytes(form.type, {rows, columns}) == bytes.size());
    const Made tensor(form.type, {rows, columns}, bytes);
    std::vector<float> found(rows * columns);
    tensor.read(0, rows, found.data());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::string_view block = std::string_view(bytes).substr(
          i / kind.block_weights * kind.block_bytes, kind.block_bytes);
      const double wanted = form.weight(Bits(block), i % kind.block_weights);
      if (found[i] != static_cast<float>(wanted)) FAIL("weight ", i, ": ", found[i], " ", wanted);
    }
    std::vector<float> some(3 * columns);
    tensor.read(7, 3, some.data());
    CHECK(std::equal(some.begin(), some.end(),
                     found.begin() + static_cast<std::ptrdiff_t>(7 * columns)));
  }
}

TEST_CASE("a scale that is not a number makes its block so") {
  for (const BlockForm& form : block_forms) {
    const TensorTypeRow& kind = row(form.type);
    CAPTURE(kind.name);
    std::string bytes(kind.block_bytes, '\1');
    bytes[form.halves[0]] = 1;
    bytes[form.halves[0] + 1] = 0x7c;
    std::vector<float> found(kind.block_weights);
    Made(form.type, {kind.block_weights}, bytes).read(0, 1, found.data());
    for (const float value : found) CHECK_UNARY(std::isnan(value));
  }
}

TEST_CASE("plain floats of every type are read from any place") {
  const std::pair<TensorType, std::string> stored[] = {
      {TensorType::float64, raw(1.5) + raw(-0.0625) + raw(1e300)},
      {TensorType::float32, raw(1.5F) + raw(-0.0625F) + raw(HUGE_VALF)},
      {TensorType::float16,
       raw(std::uint16_t{0x3e00}) + raw(std::uint16_t{0xac00}) + raw(std::uint16_t{0x7c00})},
      {TensorType::bfloat16,
       raw(std::uint16_t{0x3fc0}) + raw(std::uint16_t{0xbd80}) + raw(std::uint16_t{0x7f80})},
      {TensorType::float8_e4m3, "\x3c\x98\x7f"}};
  for (const auto& [type, numbers] : stored) {
    CAPTURE(row(type).name);
    const std::string odd = "?" + numbers;
    float found[3] = {};
    Made(type, {3, 1}, std::string_view(odd).substr(1)).read(0, 3, found);
    CHECK(found[0] == 1.5F);
    CHECK(found[1] == -0.0625F);
    if (type == TensorType::float8_e4m3) {
      CHECK_UNARY(std::isnan(found[2]));
    } else {
      CHECK_UNARY(std::isinf(found[2]));
    }
  }
}

TEST_CASE("bytes of a tensor are the product of its lengths, or nothing") {
  constexpr std::size_t half = std::size_t{1} << 32U;
  CHECK(tensor_bytes(TensorType::float32, {}) == 4);
  CHECK(tensor_bytes(TensorType::float32, {2, 3}) == 24);
  CHECK(tensor_bytes(TensorType::boolean, {half, half - 1}) == half * (half - 1));
  CHECK(tensor_bytes(TensorType::boolean, {half, half}) == std::nullopt);
  CHECK(tensor_bytes(TensorType::float32, {half, half / 4}) == std::nullopt);
  CHECK(tensor_bytes(TensorType::float32, {half, 0, half, half}) == 0);
  CHECK(tensor_bytes(TensorType::q4_k, {3, 512}) == 3 * 2 * 144);
  CHECK(tensor_bytes(TensorType::q4_k, {512, 3}) == std::nullopt);
  CHECK(tensor_bytes(TensorType::q4_k, {}) == std::nullopt);
  CHECK(tensor_bytes(TensorType::q8_0, {half, half * 2}) == std::nullopt);
}

TEST_CASE("the table of types is in the order of the types") {
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(TensorType::q6_k); ++i) {
    const TensorType type = static_cast<TensorType>(i);
    CHECK(row(type).type == type);
  }
}

}  // namespace
