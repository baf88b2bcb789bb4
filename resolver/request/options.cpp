#include "resolver/request/options.h"

#include <fmt/format.h>

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

std::string_view Options::gpu_library_of(std::string_view url) const {
  const auto known = gpu_libraries.find(url);
  return known == gpu_libraries.end() ? std::string_view() : known->second;
}

std::string Options::because_of_library(std::string_view url) const {
  const std::string_view library = gpu_library_of(url);
  return library.empty() ? std::string() : fmt::format(" (needs {})", library);
}

}  // namespace axle::resolver
