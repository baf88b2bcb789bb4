#pragma once
// A deflate stream that is unpacked in steps (ISA-L), and the places between two of its blocks: the
// rest can be unpacked from there, if it is known to the bit where that is and what the last 32 KiB
// before it are. Private to the zip reader.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

struct inflate_state;

namespace axle::wheel::zip {

class Inflation {
 public:
  /// A step gives up to `room` bytes.
  explicit Inflation(std::size_t room);
  ~Inflation();
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  /// Instead of the beginning: the next input begins with a block, after its first `bits` bits
  /// (below 8). `window`: what was unpacked before it.
  void begin_at_block(unsigned bits, std::span<const std::byte> window);

  [[nodiscard]] bool ended() const;
  /// Bytes of the input that were not taken in.
  [[nodiscard]] std::size_t waiting() const;
  /// Only when none are waiting; `bytes` must stay until they are taken in.
  void give(std::span<const std::byte> bytes);

  /// What was unpacked: valid until the next step. Nullopt: not a deflate stream.
  using Unpacked = std::optional<std::span<const std::byte>>;
  [[nodiscard]] Unpacked step();
  /// A shorter step, which stops where a block ends.
  [[nodiscard]] Unpacked step_to_block();

  /// How many bits at the end of the input so far belong to the next block; nullopt: this is not
  /// between two blocks.
  [[nodiscard]] std::optional<std::uint64_t> bits_of_next_block() const;
  /// Whole bytes of the input behind the end of the stream.
  [[nodiscard]] std::size_t unused() const;

 private:
  /// Takes in up to `most` of the waiting bytes. False: not a deflate stream.
  [[nodiscard]] bool run(std::uint32_t most);
  [[nodiscard]] Unpacked produced() const;
  [[nodiscard]] bool has_left_block(const inflate_state& before) const;

  std::unique_ptr<inflate_state> state_;
  std::unique_ptr<inflate_state> before_;  ///< of step_to_block
  std::size_t room_;
  std::unique_ptr<std::byte[]> buffer_;
  unsigned skipped_bits_ = 0;  ///< of the next input
};

}  // namespace axle::wheel::zip
