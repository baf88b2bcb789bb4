// Kubernetes: on which nodes the pods of a class may run, by the labels of NVIDIA's GPU feature
// discovery, AMD's node labeller and Node Feature Discovery. What no label says is a comment.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machines/cluster/label_names.h"
#include "session/projects/exports/class_export.h"
#include "session/projects/exports/conditions.h"

namespace axle::session {
namespace {

constexpr std::string_view cpuid_prefix = "feature.node.kubernetes.io/cpu-cpuid.";

struct NodeExpression {
  std::string key;
  std::string_view op;  ///< "In", "Gt", "Lt", "Exists", "DoesNotExist"
  std::vector<std::string> values = {};
};

/// All hold.
using NodeTerm = std::vector<NodeExpression>;
/// One of them holds. Empty: no label says it.
using NodeTerms = std::vector<NodeTerm>;

std::string arch_name(const std::string& arch) {
  for (const auto known : {detect::Arch::x86_64, detect::Arch::aarch64, detect::Arch::ppc64le,
                           detect::Arch::riscv64, detect::Arch::s390x}) {
    if (detect::render_arch(known) == arch) return std::string(machines::kubernetes_arch(known));
  }
  return {};
}

NodeTerms architecture_terms(const resolver::Atom& atom) {
  std::vector<std::string> names;
  const ListedValues listed = listed_values(atom, "arch");
  for (const std::string& arch : listed.values) names.push_back(arch_name(arch));
  if (listed.none || names.empty() || std::ranges::find(names, "") != names.end()) return {};
  return {{{"kubernetes.io/arch", "In", names}}};
}

NodeTerms system_terms(const resolver::Atom& atom) {
  const ListedValues listed = listed_values(atom, "system");
  const bool other = std::ranges::find(listed.values, "darwin") != listed.values.end();
  if (listed.none || listed.values.empty() || other) return {};
  return {{{"kubernetes.io/os", "In", listed.values}}};
}

/// "90" of a GPU is 9 and 0. Nodes with GPUs of several kinds have the labels of one of them.
NodeTerms capability_terms(const resolver::Atom& atom) {
  const ListedValues listed = listed_values(atom, "sm");
  std::map<unsigned, std::vector<std::string>> minors;
  for (const std::string& sm : listed.values) {
    const bool digits = sm.size() > 1 && sm.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || sm.size() > 3) return {};
    minors[static_cast<unsigned>(std::stoul(sm.substr(0, sm.size() - 1)))].push_back(
        sm.substr(sm.size() - 1));
  }
  NodeTerms terms;
  if (listed.none) terms.push_back({{"nvidia.com/gpu.compute.major", "DoesNotExist"}});
  for (const auto& [major, of_major] : minors) {
    terms.push_back({{"nvidia.com/gpu.compute.major", "In", {std::to_string(major)}},
                     {"nvidia.com/gpu.compute.minor", "In", of_major}});
  }
  return terms;
}

/// Labels are compared as whole numbers, each on its own.
NodeTerms cuda_terms(const resolver::Atom& atom) {
  const std::string major = "nvidia.com/cuda.runtime.major";
  const std::string minor = "nvidia.com/cuda.runtime.minor";
  if (listed_values(atom, "driver").none) return {{{major, "DoesNotExist"}}};
  const bool below = atom.kind == resolver::AtomKind::below;
  const auto bound = below ? cuda_below(atom) : least_cuda(atom);
  const auto numbers = bound ? first_numbers(*bound) : std::nullopt;
  if (!numbers) return {};
  NodeTerms terms;
  if (below) terms.push_back({{major, "DoesNotExist"}});
  terms.push_back({{major, below ? "Lt" : "Gt", {std::to_string(numbers->first)}}});
  NodeTerm same = {{major, "In", {std::to_string(numbers->first)}}};
  if (below) same.push_back({minor, "Lt", {std::to_string(numbers->second)}});
  if (!below && numbers->second > 0)
    same.push_back({minor, "Gt", {std::to_string(numbers->second - 1)}});
  if (!below || numbers->second > 0) terms.push_back(std::move(same));
  return terms;
}

NodeTerms amd_terms(const resolver::Atom& atom) {
  const std::string key = "amd.com/gpu.device-id";
  const ListedValues listed = listed_values(atom, "gfx");
  std::vector<std::string> ids;
  for (const std::string& gfx : listed.values) {
    const auto of_gfx = machines::device_ids_of(gfx);
    if (of_gfx.empty()) return {};
    ids.insert(ids.end(), of_gfx.begin(), of_gfx.end());
  }
  NodeTerms terms;
  if (listed.none) terms.push_back({{key, "DoesNotExist"}});
  if (!ids.empty()) terms.push_back({{key, "In", ids}});
  return terms;
}

NodeExpression feature(std::string_view label, std::string_view op) {
  return {std::string(cpuid_prefix) + std::string(label), op};
}

NodeTerms level_terms(const resolver::Atom& atom) {
  if (const auto below = level_below(atom)) {
    // A CPU without the first is surely below.
    const auto labels = machines::level_labels(*below);
    if (labels.empty()) return {};
    return {{feature(labels.front(), "DoesNotExist")}};
  }
  const auto level = least_level(atom);
  if (!level) return {};
  NodeTerm term;
  for (const std::string_view label : machines::level_labels(*level))
    term.push_back(feature(label, "Exists"));
  // Every CPU of the architecture has the first level; of the second no label tells.
  return term.empty() && *level > 1 ? NodeTerms() : NodeTerms{term};
}

NodeTerms flag_terms(const resolver::Atom& atom) {
  const bool has = atom.kind == resolver::AtomKind::has;
  if (atom.fact != "cpu" || (!has && atom.kind != resolver::AtomKind::lacks)) return {};
  const auto capability = detect::find_capability(atom.values.front());
  const std::string label = capability ? machines::feature_label(*capability) : std::string();
  if (label.empty()) return {};
  return {{feature(label, has ? "Exists" : "DoesNotExist")}};
}

using MakeTerms = NodeTerms (*)(const resolver::Atom& atom);
constexpr MakeTerms term_makers[] = {architecture_terms, system_terms, capability_terms, cuda_terms,
                                     amd_terms,          level_terms,  flag_terms};

NodeTerms terms_of(const resolver::Atom& atom) {
  for (const MakeTerms make : term_makers)
    if (NodeTerms terms = make(atom); !terms.empty()) return terms;
  return {};
}

/// Each of `left` with each of `right`.
NodeTerms both(const NodeTerms& left, const NodeTerms& right) {
  NodeTerms product;
  for (const NodeTerm& one : left) {
    for (const NodeTerm& other : right) {
      NodeTerm joined = one;
      joined.insert(joined.end(), other.begin(), other.end());
      product.push_back(std::move(joined));
    }
  }
  return product;
}

std::string render_expression(const NodeExpression& expression) {
  std::string text = fmt::format("              - key: {}\n                operator: {}\n",
                                 expression.key, expression.op);
  if (!expression.values.empty())
    text +=
        fmt::format("                values: [\"{}\"]\n", fmt::join(expression.values, "\", \""));
  return text;
}

}  // namespace

Result<std::string> render_node_affinity(const ClassExport& one, Report& report) {
  NodeTerms terms = {{}};
  std::vector<std::string> unsaid;
  for (const resolver::Atom& atom : one.holds.atoms) {
    const NodeTerms own = terms_of(atom);
    if (own.empty()) {
      unsaid.push_back(resolver::render_atom(atom));
    } else {
      terms = both(terms, own);
    }
  }
  std::string text = comment_lines(describe_class(one) + "\nFor the `spec` of a pod.");
  for (const std::string& atom : unsaid) text += fmt::format("# No label says: {}\n", atom);
  if (!unsaid.empty())
    report.note(fmt::format("class {}: no label of a node says {}", one.about.name,
                            fmt::join(unsaid, ", ")));
  if (terms.size() == 1 && terms.front().empty()) return text + "affinity: {}\n";
  text +=
      "affinity:\n"
      "  nodeAffinity:\n"
      "    requiredDuringSchedulingIgnoredDuringExecution:\n"
      "      nodeSelectorTerms:\n";
  for (const NodeTerm& term : terms) {
    text += "        - matchExpressions:\n";
    for (const NodeExpression& expression : term) text += render_expression(expression);
  }
  return text;
}

}  // namespace axle::session
