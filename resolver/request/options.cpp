#include "resolver/request/options.h"

namespace axle::resolver {

const std::string* BuildConsent::refuses(std::string_view name) const {
  const auto own = refused.find(name);
  if (own != refused.end()) return &own->second;
  const auto every = refused.find(":all:");
  return every == refused.end() ? nullptr : &every->second;
}

const std::string* Options::refuses_build(std::string_view name) const {
  const std::string* who = builds.refuses(name);
  return who != nullptr ? who : wheel_use.demands(name);
}

bool Options::may_build(std::string_view name) const {
  return builds.builder != nullptr && builds.covers(name) && refuses_build(name) == nullptr;
}

}  // namespace axle::resolver
