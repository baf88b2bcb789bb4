#include "runtime/tokenizer/vocabulary.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace axle::runtime {
namespace {

constexpr std::uint64_t mixed(std::uint64_t x) {
  x *= 0x9e3779b97f4a7c15U;
  return x ^ x >> 32U;
}

/// Eight bytes at a time; the order of bytes does not matter, since nothing keeps the value.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  while (text.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), 8);
    hash = mixed(hash ^ word);
    text.remove_prefix(8);
  }
  std::uint64_t rest = 0;
  for (const char c : text) rest = rest << 8U | static_cast<unsigned char>(c);
  return mixed(mixed(hash ^ rest));
}

}  // namespace

Vocabulary::Vocabulary(std::size_t expected) : highest_(expected * 16 + 65536) {
  index_.assign(std::bit_ceil(expected * 2 + 16), none);
  places_.reserve(expected);
}

std::size_t Vocabulary::slot_of(std::string_view wanted) const {
  const std::size_t mask = index_.size() - 1;
  std::size_t slot = hash_of(wanted) & mask;
  while (index_[slot] != none && text(index_[slot]) != wanted) slot = (slot + 1) & mask;
  return slot;
}

void Vocabulary::grow() {
  std::vector<std::int32_t> old(index_.size() * 2, none);
  old.swap(index_);
  for (const std::int32_t id : old) {
    if (id != none) index_[slot_of(text(id))] = id;
  }
}

Vocabulary::Added Vocabulary::add(std::int64_t id, std::string_view text_of_id) {
  if (id < 0 || static_cast<std::uint64_t>(id) > highest_ || id >= INT32_MAX)
    return Added::too_high;
  const std::size_t at = static_cast<std::size_t>(id);
  if (at >= places_.size()) places_.resize(at + 1);
  Place& place = places_[at];
  if (place.size > 0)
    return text(static_cast<std::int32_t>(id)) == text_of_id ? Added::yes : Added::taken;
  place = {bytes_.size(), text_of_id.size()};
  bytes_ += text_of_id;
  longest_ = std::max(longest_, text_of_id.size());
  const std::size_t slot = slot_of(text_of_id);
  if (index_[slot] != none) return Added::yes;
  index_[slot] = static_cast<std::int32_t>(id);
  if (++used_ * 2 > index_.size()) grow();
  return Added::yes;
}

}  // namespace axle::runtime
