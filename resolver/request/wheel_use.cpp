#include "resolver/request/wheel_use.h"

namespace axle::resolver {

const std::string* WheelUse::forbids(std::string_view name) const {
  const auto own = forbidden.find(name);
  if (own != forbidden.end()) return &own->second;
  const auto all = forbidden.find(":all:");
  return all == forbidden.end() || allowed.contains(name) ? nullptr : &all->second;
}

}  // namespace axle::resolver
