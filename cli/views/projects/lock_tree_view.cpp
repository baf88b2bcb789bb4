#include "cli/views/projects/lock_tree_view.h"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/views/decision_view.h"
#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::cli {
namespace {

using nlohmann::ordered_json;
using plan::ReachedPackage;

class TreeRows {
 public:
  TreeRows(const LockTree& tree, const TreeForm& form) : tree_(tree), form_(form) {
    for (const ReachedPackage& one : tree.packages) {
      by_name_.emplace(one.package->name, &one);
      for (const std::string& other : one.package->stands_for) by_name_.emplace(other, &one);
    }
  }

  std::string render() {
    std::vector<const ReachedPackage*> roots;
    for (const ReachedPackage& one : tree_.packages) {
      if (form_.inverted.empty() ? one.requested : one.package->name == form_.inverted)
        roots.push_back(&one);
    }
    for (const ReachedPackage* root : roots) add(*root);
    return std::move(text_);
  }

 private:
  struct Branch {
    const ReachedPackage* package;
    std::string indent;  ///< of its children
    std::string line;    ///< before its own title
    std::size_t depth;
  };

  static std::string title(const ReachedPackage& one) {
    const plan::LockedPackage& package = *one.package;
    std::string text = package.name;
    if (!one.extras.empty()) text += fmt::format("[{}]", fmt::join(one.extras, ","));
    text += " " + wheel::render_version(package.version);
    if (package.variant && !text.ends_with("+" + *package.variant))
      text += fmt::format(" ({})", *package.variant);
    if (package.built_from) text += fmt::format(" (built from {})", package.built_from->url);
    return text;
  }

  [[nodiscard]] std::vector<const ReachedPackage*> children_of(const ReachedPackage& one) const {
    std::vector<std::string> names = one.required_by;
    if (form_.inverted.empty()) {
      names.clear();
      for (const wheel::Requirement& need : one.dependencies)
        names.push_back(wheel::normalize_name(need.name));
    }
    std::vector<const ReachedPackage*> children;
    for (const std::string& name : names) {
      const auto found = by_name_.find(name);
      if (found == by_name_.end() || found->second == &one) continue;
      if (std::ranges::find(children, found->second) == children.end())
        children.push_back(found->second);
    }
    std::ranges::sort(children, {},
                      [](const ReachedPackage* child) { return child->package->name; });
    return children;
  }

  /// Without recursion: a lock may be a chain of any length.
  void add(const ReachedPackage& root) {
    std::vector<Branch> open = {{&root, "", "", 0}};
    while (!open.empty()) {
      const Branch branch = std::move(open.back());
      open.pop_back();
      text_ += branch.line + title(*branch.package);
      const auto children = branch.depth < form_.depth ? children_of(*branch.package)
                                                       : std::vector<const ReachedPackage*>();
      const bool again = !children.empty() && !expanded_.insert(branch.package).second;
      text_ += again ? " (*)\n" : "\n";
      if (again) continue;
      for (std::size_t i = children.size(); i-- > 0;) {
        const bool last = i + 1 == children.size();
        open.push_back({children[i], branch.indent + (last ? "    " : "│   "),
                        branch.indent + (last ? "└── " : "├── "), branch.depth + 1});
      }
    }
  }

  const LockTree& tree_;
  const TreeForm& form_;
  std::map<std::string, const ReachedPackage*, std::less<>> by_name_;
  std::set<const ReachedPackage*> expanded_;
  std::string text_;
};

}  // namespace

std::string render_tree(const LockTree& tree, const TreeForm& form) {
  return fmt::format("{} ({}, Python {})\n{}", tree.about.name, tree.about.machine,
                     tree.about.python, TreeRows(tree, form).render());
}

ordered_json tree_json(const LockTree& tree) {
  ordered_json packages = ordered_json::array();
  for (const ReachedPackage& one : tree.packages) {
    std::vector<std::string> needs;
    for (const wheel::Requirement& need : one.dependencies)
      needs.push_back(wheel::render_requirement(need));
    packages.push_back({{"name", one.package->name},
                        {"version", wheel::render_version(one.package->version)},
                        {"variant", variant_json(one.package->variant)},
                        {"requested", one.requested},
                        {"extras", one.extras},
                        {"requires", needs},
                        {"required_by", one.required_by}});
  }
  return {{"name", tree.about.name},
          {"machine", tree.about.machine},
          {"python", tree.about.python},
          {"holds", tree.about.holds},
          {"packages", std::move(packages)}};
}

}  // namespace axle::cli
