#pragma once
// Whether a device node can be used.

#include <cstdint>
#include <string>

#include "detect/host.h"

namespace axle::detect {

enum class NodeState : std::uint8_t { missing, refused, open };

[[nodiscard]] inline NodeState look_at_node(Host& host, const std::string& path) {
  if (!host.accessible(path, Access::exists)) return NodeState::missing;
  return host.accessible(path, Access::read_write) ? NodeState::open : NodeState::refused;
}

}  // namespace axle::detect
