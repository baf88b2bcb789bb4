#include "runtime/layer_choices.h"

#include <new>

namespace axle::runtime {

LayerChoices::Slot& LayerChoices::slot_of(const LayerShape& shape) const {
  // Shapes are multiples of 16 mostly: their low bits say little.
  std::uint64_t hash = shape.n * 0x9e3779b97f4a7c15U;
  hash = (hash ^ shape.k) * 0x9e3779b97f4a7c15U;
  hash = (hash ^ static_cast<std::uint32_t>(shape.mode) ^ (std::uint64_t{shape.group} << 8U)) *
         0x9e3779b97f4a7c15U;
  Slot* const all = memory_.as<Slot>();
  std::size_t at = (hash >> 32U) % slots;
  while (all[at].taken && !(all[at].shape == shape)) at = (at + 1) % slots;
  return all[at];
}

bool LayerChoices::add(const LayerShape& shape, std::size_t bucket, const Choice& choice) {
  if (memory_.data() == nullptr) {
    memory_ = Memory(slots * sizeof(Slot));
    if (memory_.data() == nullptr) return false;
    for (std::size_t i = 0; i < slots; ++i) ::new (memory_.as<Slot>() + i) Slot{};
  }
  Slot& slot = slot_of(shape);
  if (!slot.taken) {
    if (shapes_ == most_shapes) return false;
    ++shapes_;
    slot.taken = true;
    slot.shape = shape;
  }
  slot.choices[bucket] = choice;
  return true;
}

void LayerChoices::clear() {
  memory_ = Memory();
  shapes_ = 0;
}

const LayerChoices::Choice* LayerChoices::find(const LayerShape& shape, std::size_t rows) const {
  if (shapes_ == 0) return nullptr;
  const Slot& slot = slot_of(shape);
  if (!slot.taken) return nullptr;
  const Choice& choice = slot.choices[bucket_of(rows)];
  return choice.made ? &choice : nullptr;
}

}  // namespace axle::runtime
