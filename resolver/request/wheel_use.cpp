#include "resolver/request/wheel_use.h"

namespace axle::resolver {
namespace {

using Origins = std::map<std::string, std::string, std::less<>>;

/// What `list` says of `name`: by name, else of all that `other` does not name.
const std::string* said_of(std::string_view name, const Origins& list, const Origins& other) {
  const auto own = list.find(name);
  if (own != list.end()) return &own->second;
  const auto all = list.find(":all:");
  return all == list.end() || other.contains(name) ? nullptr : &all->second;
}

}  // namespace

const std::string* WheelUse::forbids(std::string_view name) const {
  return said_of(name, forbidden, only);
}

const std::string* WheelUse::demands(std::string_view name) const {
  return said_of(name, only, forbidden);
}

}  // namespace axle::resolver
