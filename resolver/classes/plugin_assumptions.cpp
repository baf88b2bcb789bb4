#include "resolver/classes/plugin_assumptions.h"

#include <algorithm>

namespace axle::resolver {
namespace {

std::string fact_of(const std::string& ns, const std::string& feature, const std::string& value) {
  return std::string(property_fact) + wheel::render_property({ns, feature, value});
}

/// `here` with what `facts` state instead: in the plugin's order, what it did not tell of last.
providers::Features assumed(const std::string& ns, const providers::Features& here,
                            const FactValues& facts) {
  providers::Features features;
  std::set<std::string, std::less<>> taken;
  for (const providers::Feature& feature : here) {
    providers::Feature kept{feature.name, feature.multi_value, {}};
    for (const std::string& value : feature.values) {
      std::string fact = fact_of(ns, feature.name, value);
      if (facts.contains(fact)) kept.values.push_back(value);
      taken.insert(std::move(fact));
    }
    if (!kept.values.empty()) features.push_back(std::move(kept));
  }
  for (const auto& [fact, value] : facts) {
    if (!fact.starts_with(property_fact) || taken.contains(fact)) continue;
    const auto property =
        wheel::parse_property(std::string_view(fact).substr(property_fact.size()));
    if (!property || property->ns != ns) continue;
    auto feature = std::ranges::find(features, property->feature, &providers::Feature::name);
    if (feature == features.end())
      feature = features.insert(features.end(), {property->feature, true, {}});
    feature->values.push_back(property->value);
  }
  return features;
}

}  // namespace

std::vector<PluginLists> AssumingHost::ask(std::span<const PluginRequest> requests,
                                           Report& report) {
  std::vector<PluginLists> answers = inner_.ask(requests, report);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string& ns = requests[i].ns;
    asked_.insert(ns);
    here_.try_emplace(ns, answers[i].features);
    if (facts_ != nullptr) answers[i].features = assumed(ns, answers[i].features, *facts_);
  }
  return answers;
}

void AssumingHost::add_facts(FactValues& facts) const {
  for (const auto& [ns, features] : here_) {
    for (const providers::Feature& feature : features) {
      for (const std::string& value : feature.values)
        facts.insert_or_assign(fact_of(ns, feature.name, value), "has");
    }
  }
}

}  // namespace axle::resolver
