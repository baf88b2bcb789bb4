#include "resolver/classes/fact_groups.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace axle::resolver {
namespace {

/// Facts in the same set get the same number.
class Links {
 public:
  explicit Links(const std::set<std::string, std::less<>>& facts) {
    for (const std::string& fact : facts) set_.emplace(fact, set_.size());
  }
  void link(const std::string& left, const std::string& right) {
    const auto one = set_.find(left);
    const auto other = set_.find(right);
    if (one == set_.end() || other == set_.end() || one->second == other->second) return;
    const std::size_t from = other->second;
    const std::size_t to = one->second;
    for (auto& [fact, set] : set_) {
      if (set == from) set = to;
    }
  }
  void link(const std::vector<std::string>& facts) {
    for (std::size_t i = 1; i < facts.size(); ++i) link(facts.front(), facts[i]);
  }
  [[nodiscard]] std::vector<FactGroup> groups() const {
    std::map<std::size_t, FactGroup> by_set;
    for (const auto& [fact, set] : set_) by_set[set].push_back(fact);
    std::vector<FactGroup> groups;
    for (auto& [set, group] : by_set) groups.push_back(std::move(group));
    return groups;
  }

 private:
  std::map<std::string, std::size_t, std::less<>> set_;
};

}  // namespace

bool is_platform_fact(std::string_view fact) {
  return std::ranges::find(platform_facts, fact) != std::end(platform_facts);
}

std::vector<std::string> facts_behind_used(const wheel::Property& property,
                                           const UsedInputs& used) {
  if (used.foreign.contains(property.ns))
    return {std::string(property_fact) + wheel::render_property(property)};
  return facts_behind(property);
}

std::vector<FactGroup> grouped(const std::set<std::string, std::less<>>& facts,
                               const std::vector<const UsedInputs*>& all) {
  Links links(facts);
  for (const std::string& fact : facts) {
    for (const std::string& other : facts) {
      const bool platform = is_platform_fact(fact) && is_platform_fact(other);
      if (fact < other && (platform || are_entangled(fact, other) || are_entangled(other, fact)))
        links.link(fact, other);
    }
  }
  for (const UsedInputs* used : all) {
    for (const wheel::Property& property : used->properties)
      links.link(facts_behind_used(property, *used));
    for (const std::vector<wheel::Property>& run : used->runs) {
      std::vector<std::string> behind;
      for (const wheel::Property& property : run)
        std::ranges::move(facts_behind(property), std::back_inserter(behind));
      links.link(behind);
    }
  }
  return links.groups();
}

}  // namespace axle::resolver
