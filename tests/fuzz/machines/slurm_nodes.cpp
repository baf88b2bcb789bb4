// Nodes as scontrol writes them: each text is refused with its name, or each node is in one kind.
#include <cstdint>
#include <set>
#include <string_view>

#include "machines/cluster/cluster_nodes.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using axle::fuzz::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto kinds = axle::machines::parse_slurm_nodes(text, "nodes.txt");
  if (!kinds) {
    require(kinds.error().message.starts_with("nodes.txt"));
    return 0;
  }
  std::set<std::string_view> names;
  for (const axle::machines::NodeKind& kind : *kinds) {
    require(!kind.nodes.empty() && !kind.title().empty());
    for (const std::string& name : kind.nodes) require(names.insert(name).second);
  }
  require(!names.empty());
  return 0;
}
