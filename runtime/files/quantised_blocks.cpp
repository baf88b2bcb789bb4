#include "runtime/files/quantised_blocks.h"

#include "runtime/half.h"

namespace axle::runtime {
namespace {

/// The bytes of one block.
class Block {
 public:
  explicit Block(const std::byte* data) : data_(data) {}

  [[nodiscard]] float half(std::size_t at) const {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data_ + at, sizeof bits);
    return float_from_float16(bits);
  }
  [[nodiscard]] std::uint32_t byte(std::size_t at) const {
    return static_cast<std::uint8_t>(data_[at]);
  }
  [[nodiscard]] std::int32_t signed_byte(std::size_t at) const {
    return static_cast<std::int8_t>(data_[at]);
  }

 private:
  const std::byte* data_;
};

float whole(std::int32_t value) { return static_cast<float>(value); }
float whole(std::uint32_t value) { return static_cast<float>(value); }

/// scale, 32 signed bytes.
void read_q8_0(Block block, float* to) {
  const float scale = block.half(0);
  for (std::size_t i = 0; i < 32; ++i) to[i] = whole(block.signed_byte(2 + i)) * scale;
}

/// scale, 16 bytes: the low nibbles are weights 0 to 15, the high ones 16 to 31, less 8.
void read_q4_0(Block block, float* to) {
  const float scale = block.half(0);
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint32_t pair = block.byte(2 + i);
    to[i] = whole(static_cast<std::int32_t>(pair & 15U) - 8) * scale;
    to[16 + i] = whole(static_cast<std::int32_t>(pair >> 4U) - 8) * scale;
  }
}

/// scale, smallest value, 16 bytes as in q4_0.
void read_q4_1(Block block, float* to) {
  const float scale = block.half(0);
  const float least = block.half(2);
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint32_t pair = block.byte(4 + i);
    to[i] = whole(pair & 15U) * scale + least;
    to[16 + i] = whole(pair >> 4U) * scale + least;
  }
}

/// scale, 32 fifth bits, 16 bytes as in q4_0; less 16.
void read_q5_0(Block block, float* to) {
  const float scale = block.half(0);
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t pair = block.byte(6 + i % 16);
    const std::uint32_t low = i < 16 ? pair & 15U : pair >> 4U;
    const std::uint32_t fifth = (block.byte(2 + i / 8) >> (i % 8)) & 1U;
    to[i] = whole(static_cast<std::int32_t>(low | fifth << 4U) - 16) * scale;
  }
}

struct ScaleAndLeast {
  std::uint32_t scale;
  std::uint32_t least;
};

/// Eight pairs of 6 bits in 12 bytes from `at` on: the first four pairs are the low bits of bytes 0
/// to 3 and 4 to 7; of the others the low nibbles are in bytes 8 to 11, the rest above the first.
ScaleAndLeast six_bits(Block block, std::size_t at, std::size_t index) {
  if (index < 4) return {block.byte(at + index) & 63U, block.byte(at + index + 4) & 63U};
  const std::uint32_t low = block.byte(at + index + 4);
  return {(low & 15U) | (block.byte(at + index - 4) >> 6U) << 4U,
          (low >> 4U) | (block.byte(at + index) >> 6U) << 4U};
}

/// scale, scale of the smallest values, 12 bytes of six_bits, [32 bytes of fifth bits,] 128 bytes:
/// each 32 of them hold 32 weights in their low nibbles, then 32 in their high ones.
void read_k_block(Block block, bool fifth_bits, float* to) {
  const float scale = block.half(0);
  const float least_scale = block.half(2);
  const std::size_t nibbles = fifth_bits ? 48 : 16;
  for (std::size_t part = 0; part < 8; ++part) {
    const ScaleAndLeast own = six_bits(block, 4, part);
    const float part_scale = scale * whole(own.scale);
    const float part_least = least_scale * whole(own.least);
    for (std::size_t i = 0; i < 32; ++i) {
      const std::uint32_t pair = block.byte(nibbles + part / 2 * 32 + i);
      std::uint32_t value = part % 2 == 0 ? pair & 15U : pair >> 4U;
      if (fifth_bits) value += ((block.byte(16 + i) >> part) & 1U) << 4U;
      to[part * 32 + i] = part_scale * whole(value) - part_least;
    }
  }
}

/// 128 bytes of low nibbles, 64 bytes of upper two bits, 16 signed scales, scale; less 32.
void read_q6_k(Block block, float* to) {
  const float scale = block.half(208);
  for (std::size_t i = 0; i < 256; ++i) {
    const std::size_t half = i / 128;
    const std::size_t quarter = i % 128 / 32;
    const std::size_t at = i % 32;
    const std::uint32_t pair = block.byte(half * 64 + quarter % 2 * 32 + at);
    const std::uint32_t low = quarter < 2 ? pair & 15U : pair >> 4U;
    const std::uint32_t high = (block.byte(128 + half * 32 + at) >> (2 * quarter)) & 3U;
    const std::int32_t value = static_cast<std::int32_t>(low | high << 4U) - 32;
    to[i] = scale * whole(block.signed_byte(192 + i / 16)) * whole(value);
  }
}

}  // namespace

void read_blocks(TensorType type, const std::byte* from, std::size_t count, float* to) {
  const TensorTypeRow& kind = row(type);
  for (std::size_t i = 0; i < count; ++i, from += kind.block_bytes, to += kind.block_weights) {
    const Block block(from);
    switch (type) {
      case TensorType::q8_0:
        read_q8_0(block, to);
        break;
      case TensorType::q4_0:
        read_q4_0(block, to);
        break;
      case TensorType::q4_1:
        read_q4_1(block, to);
        break;
      case TensorType::q5_0:
        read_q5_0(block, to);
        break;
      case TensorType::q4_k:
        read_k_block(block, false, to);
        break;
      case TensorType::q5_k:
        read_k_block(block, true, to);
        break;
      case TensorType::q6_k:
        read_q6_k(block, to);
        break;
      default:
        break;
    }
  }
}

}  // namespace axle::runtime
