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
  std::string_view op;  ///< "In", "Gt", "Exists", "DoesNotExist"
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
  for (const std::string& arch : values_of(atom, "arch")) names.push_back(arch_name(arch));
  if (names.empty() || std::ranges::find(names, "") != names.end()) return {};
  return {{{"kubernetes.io/arch", "In", names}}};
}

NodeTerms system_terms(const resolver::Atom& atom) {
  const auto systems = values_of(atom, "system");
  if (systems.empty() || std::ranges::find(systems, "darwin") != systems.end()) return {};
  return {{{"kubernetes.io/os", "In", systems}}};
}

/// "90" of a GPU is 9 and 0. Nodes with GPUs of several kinds have the labels of one of them.
NodeTerms capability_terms(const resolver::Atom& atom) {
  if (atom.fact != "sm") return {};
  if (atom.kind == resolver::AtomKind::none) return {{{"nvidia.com/gpu.count", "DoesNotExist"}}};
  std::map<unsigned, std::vector<std::string>> minors;
  for (const std::string& sm : values_of(atom, "sm")) {
    const bool digits = sm.size() > 1 && sm.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || sm.size() > 3) return {};
    minors[static_cast<unsigned>(std::stoul(sm.substr(0, sm.size() - 1)))].push_back(
        sm.substr(sm.size() - 1));
  }
  NodeTerms terms;
  for (const auto& [major, of_major] : minors) {
    terms.push_back({{"nvidia.com/gpu.compute.major", "In", {std::to_string(major)}},
                     {"nvidia.com/gpu.compute.minor", "In", of_major}});
  }
  return terms;
}

/// Labels are compared as whole numbers, each on its own.
NodeTerms cuda_terms(const resolver::Atom& atom) {
  const auto least = least_cuda(atom);
  const auto numbers = least ? first_numbers(*least) : std::nullopt;
  if (!numbers) return {};
  const std::string major = "nvidia.com/cuda.runtime.major";
  NodeTerms terms = {{{major, "Gt", {std::to_string(numbers->first)}}}};
  NodeTerm same = {{major, "In", {std::to_string(numbers->first)}}};
  if (numbers->second > 0)
    same.push_back({"nvidia.com/cuda.runtime.minor", "Gt", {std::to_string(numbers->second - 1)}});
  terms.push_back(std::move(same));
  return terms;
}

NodeTerms amd_terms(const resolver::Atom& atom) {
  if (atom.fact != "gfx") return {};
  if (atom.kind == resolver::AtomKind::none) return {{{"amd.com/gpu.device-id", "DoesNotExist"}}};
  std::vector<std::string> ids;
  for (const std::string& gfx : values_of(atom, "gfx")) {
    const auto of_gfx = machines::device_ids_of(gfx);
    if (of_gfx.empty()) return {};
    ids.insert(ids.end(), of_gfx.begin(), of_gfx.end());
  }
  if (ids.empty()) return {};
  return {{{"amd.com/gpu.device-id", "In", ids}}};
}

NodeTerms cpu_terms(const resolver::Atom& atom) {
  NodeTerm term;
  if (const auto level = least_level(atom)) {
    for (const std::string_view label : machines::level_labels(*level))
      term.push_back({std::string(cpuid_prefix) + std::string(label), "Exists"});
    // Every CPU of the architecture has the first level.
    if (*level == 1) return {{}};
  } else if (const auto name = needed_capability(atom)) {
    const auto capability = detect::find_capability(*name);
    const std::string label = capability ? machines::feature_label(*capability) : std::string();
    if (!label.empty()) term.push_back({std::string(cpuid_prefix) + label, "Exists"});
  }
  if (term.empty()) return {};
  return {std::move(term)};
}

using MakeTerms = NodeTerms (*)(const resolver::Atom& atom);
constexpr MakeTerms term_makers[] = {architecture_terms, system_terms, capability_terms,
                                     cuda_terms,         amd_terms,    cpu_terms};

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
