#pragma once
// The nodes of a cluster as machines: what `kubectl get nodes -o json` and `scontrol show node`
// write. What labels and features do not state remains unknown (docs/lock.md lists which count).

#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/error.h"

namespace axle::machines {

/// Nodes that have the same facts.
struct NodeKind {
  std::vector<std::string> nodes;  ///< names, in the order of the file; never empty
  detect::Machine machine;

  /// "gpu-1", "gpu-1 and 11 more"
  [[nodiscard]] std::string title() const;
};

inline constexpr std::size_t largest_node_list = std::size_t{16} << 20;  ///< bytes

/// Whether `text` may be one of these; a profile is neither.
[[nodiscard]] bool is_kubernetes_text(std::string_view text);
[[nodiscard]] bool is_slurm_text(std::string_view text);

/// A Node, or a List of them. `where` is named in errors. Errors: malformed, with the node and the
/// label: no list of nodes, two nodes of one name, a label that contradicts another one or states
/// what no machine has; not_found for an empty list.
[[nodiscard]] Result<std::vector<NodeKind>> parse_kubernetes_nodes(std::string_view json,
                                                                   std::string_view where);
/// Blocks that begin with NodeName=, also with a line a node (-o). Errors: malformed, with line and
/// node: a GPU of which nothing says what it is, features that no machine has.
[[nodiscard]] Result<std::vector<NodeKind>> parse_slurm_nodes(std::string_view text,
                                                              std::string_view where);

/// Puts `machine` among those with the same facts.
void add_node(std::vector<NodeKind>& kinds, std::string name, detect::Machine machine);

}  // namespace axle::machines
