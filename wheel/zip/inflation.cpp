#include "wheel/zip/inflation.h"

#include <algorithm>
#include <cstring>

#include <isa-l/igzip_lib.h>

#include "wheel/zip/isal.h"

namespace axle::wheel::zip {
namespace {

/// Input of a shorter step, in bytes. A block has some ten times as many, and its end is searched
/// for within one such step.
constexpr std::uint32_t short_step = 4096;

}  // namespace

Inflation::Inflation(std::size_t room)
    : state_(std::make_unique_for_overwrite<inflate_state>()),
      room_(room),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(room)) {
  isal().inflate_init(state_.get());
}

Inflation::~Inflation() = default;

void Inflation::begin_at_block(unsigned bits, std::span<const std::byte> window) {
  const auto last = window.last(std::min<std::size_t>(window.size(), ISAL_DEF_HIST_SIZE));
  // ISA-L takes pointers to non-const and does not write through them. In a new state this
  // succeeds.
  isal().inflate_set_dict(state_.get(),
                          reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(last.data())),
                          static_cast<std::uint32_t>(last.size()));
  skipped_bits_ = bits;
}

bool Inflation::ended() const { return state_->block_state == ISAL_BLOCK_FINISH; }

std::size_t Inflation::waiting() const { return state_->avail_in; }

void Inflation::give(std::span<const std::byte> bytes) {
  if (skipped_bits_ != 0 && !bytes.empty()) {
    state_->read_in = std::to_integer<std::uint64_t>(bytes.front()) >> skipped_bits_;
    state_->read_in_length = static_cast<std::int32_t>(8 - skipped_bits_);
    skipped_bits_ = 0;
    bytes = bytes.subspan(1);
  }
  state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(bytes.data()));
  state_->avail_in = static_cast<std::uint32_t>(bytes.size());
}

bool Inflation::run(std::uint32_t most) {
  const std::uint32_t kept_back = state_->avail_in - std::min(state_->avail_in, most);
  state_->avail_in -= kept_back;
  state_->next_out = reinterpret_cast<std::uint8_t*>(buffer_.get());
  state_->avail_out = static_cast<std::uint32_t>(room_);
  const bool good = isal().inflate(state_.get()) == ISAL_DECOMP_OK;
  state_->avail_in += kept_back;
  return good;
}

Inflation::Unpacked Inflation::produced() const {
  return std::span<const std::byte>(buffer_.get(), room_ - state_->avail_out);
}

Inflation::Unpacked Inflation::step() {
  if (!run(state_->avail_in)) return std::nullopt;
  return produced();
}

Inflation::Unpacked Inflation::step_to_block() {
  std::uint32_t most = short_step;
  if (state_->block_state == ISAL_BLOCK_TYPE0) {
    // Its length is known. The first bytes of it may have been taken in.
    const auto taken = static_cast<std::uint32_t>(std::max(state_->read_in_length, 0)) / 8;
    const auto length = static_cast<std::uint32_t>(std::max(state_->type0_block_len, 0));
    most = std::max(length, taken + 1) - taken;
  }
  most = std::min(most, state_->avail_in);
  if (before_ == nullptr) before_ = std::make_unique_for_overwrite<inflate_state>();
  *before_ = *state_;
  if (!run(most)) return std::nullopt;
  if (ended() || bits_of_next_block() || !has_left_block(*before_)) return produced();
  // The fewest bytes with which it leaves the block: only then it stops before the next one.
  std::uint32_t low = 0;
  while (most - low > 1) {
    const std::uint32_t middle = low + (most - low) / 2;
    *state_ = *before_;
    (run(middle) && has_left_block(*before_) ? most : low) = middle;
  }
  *state_ = *before_;
  if (!run(most)) return std::nullopt;
  return produced();
}

bool Inflation::has_left_block(const inflate_state& before) const {
  return state_->block_state != before.block_state ||
         std::memcmp(&state_->lit_huff_code, &before.lit_huff_code, sizeof before.lit_huff_code) !=
             0 ||
         std::memcmp(&state_->dist_huff_code, &before.dist_huff_code,
                     sizeof before.dist_huff_code) != 0;
}

std::optional<std::uint64_t> Inflation::bits_of_next_block() const {
  const auto at = state_->block_state;
  // With a full buffer there may be more that was unpacked.
  if ((at != ISAL_BLOCK_NEW_HDR && at != ISAL_BLOCK_HDR) || state_->avail_out == 0 ||
      state_->read_in_length < 0) {
    return std::nullopt;
  }
  return 8 * (std::uint64_t{state_->avail_in} + static_cast<std::uint64_t>(state_->tmp_in_size)) +
         static_cast<std::uint64_t>(state_->read_in_length);
}

std::size_t Inflation::unused() const {
  return state_->avail_in + static_cast<std::size_t>(std::max(state_->read_in_length, 0)) / 8;
}

}  // namespace axle::wheel::zip
