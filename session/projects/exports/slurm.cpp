// Slurm: the lines of a batch script that ask for a node of a class. Features of nodes have no
// standard names: docs/lock.md says which are meant, and machines are read from the same ones.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "session/projects/exports/class_export.h"
#include "session/projects/exports/conditions.h"

namespace axle::session {
namespace {

/// The features of which one must be there; empty: none says it.
std::vector<std::string> node_features(const resolver::Atom& atom) {
  std::vector<std::string> features;
  const ListedValues sm = listed_values(atom, "sm");
  const ListedValues gfx = listed_values(atom, "gfx");
  // No feature says that there is no GPU.
  if (sm.none || gfx.none) return {};
  for (const std::string& one : sm.values) features.push_back("sm_" + one);
  features.insert(features.end(), gfx.values.begin(), gfx.values.end());
  // A node has a feature for each level that it has.
  if (const auto level = least_level(atom)) features.push_back(fmt::format("x86-64-v{}", *level));
  // Those of several GPUs would not be one word.
  const bool sound = std::ranges::none_of(
      features, [](const std::string& feature) { return feature.contains('+'); });
  return sound ? features : std::vector<std::string>();
}

bool needs_gpu(const resolver::Atom& atom) {
  return std::ranges::any_of(std::array{"sm", "gfx", "device"}, [&](const char* fact) {
    const ListedValues listed = listed_values(atom, fact);
    return !listed.values.empty() && !listed.none;
  });
}

}  // namespace

Result<std::string> render_slurm(const ClassExport& one, Report& report) {
  std::vector<std::string> groups;
  std::vector<std::string> unsaid;
  bool gpu = false;
  bool alternatives = false;
  for (const resolver::Atom& atom : one.holds.atoms) {
    gpu = gpu || needs_gpu(atom);
    const auto level = least_level(atom);
    if (level && *level == 1) continue;
    const std::vector<std::string> features = node_features(atom);
    alternatives = alternatives || features.size() > 1;
    if (features.empty()) {
      unsaid.push_back(resolver::render_atom(atom));
    } else {
      groups.push_back(features.size() == 1 ? features.front()
                                            : fmt::format("({})", fmt::join(features, "|")));
    }
  }
  if (groups.size() == 1 && groups.front().starts_with('('))
    groups.front() = groups.front().substr(1, groups.front().size() - 2);
  std::string text = comment_lines(describe_class(one));
  for (const std::string& atom : unsaid) text += fmt::format("# No feature says: {}\n", atom);
  if (!unsaid.empty())
    report.note(fmt::format("class {}: no feature of a node says {}", one.about.name,
                            fmt::join(unsaid, ", ")));
  if (alternatives)
    text += "# Slurm refuses features that no node of the cluster has: leave those out.\n";
  if (gpu) text += "#SBATCH --gres=gpu:1\n";
  if (!groups.empty()) text += fmt::format("#SBATCH --constraint=\"{}\"\n", fmt::join(groups, "&"));
  return text;
}

}  // namespace axle::session
