#include "machines/cluster/cluster_nodes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"

namespace axle::machines {

std::string NodeKind::title() const {
  return nodes.size() == 1 ? nodes.front()
                           : fmt::format("{} and {} more", nodes.front(), nodes.size() - 1);
}

bool is_kubernetes_text(std::string_view text) {
  return text::trim_ascii(text).starts_with('{') && text.contains("\"apiVersion\"") &&
         text.contains("\"kind\"");
}

bool is_slurm_text(std::string_view text) {
  return text::trim_ascii(text).starts_with("NodeName=");
}

void add_node(std::vector<NodeKind>& kinds, std::string name, detect::Machine machine) {
  const auto same = std::ranges::find(kinds, machine, &NodeKind::machine);
  if (same != kinds.end()) {
    same->nodes.push_back(std::move(name));
  } else {
    kinds.push_back({{std::move(name)}, std::move(machine)});
  }
}

}  // namespace axle::machines
