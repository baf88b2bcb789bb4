#include "resolver/classes/used_properties.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "foundation/report/report.h"
#include "providers/provider.h"
#include "resolver/choice/provider_algorithm.h"
#include "resolver/predicate/machine_facts.h"
#include "wheel/variant/abi_dependency.h"

namespace axle::resolver {
namespace {

using Run = std::vector<wheel::Property>;  ///< the values of one feature

bool is_in(const SupportedProperties& lists, const wheel::Property& property) {
  const auto features = lists.find(property.ns);
  return features != lists.end() &&
         std::ranges::any_of(features->second, [&](const providers::Feature& feature) {
           return feature.name == property.feature &&
                  std::ranges::find(feature.values, property.value) != feature.values.end();
         });
}

/// What one document is ranked by: the lists of the machine, or of each view of it.
class DocumentLists {
 public:
  DocumentLists(const wheel::VariantMetadata& document, const Target& target,
                const Options& options)
      : document_(document) {
    CollectedReport said_before;
    SupportedLists whole =
        supported_lists(document, *target.machine, options.providers, target.markers, said_before);
    for (const plan::NamespaceOrigin& origin : whole.origins)
      origins_.emplace(origin.ns, origin.origin);
    std::vector<detect::Machine> views =
        providers::device_views(*target.machine, options.providers.gpus);
    for (const detect::Machine& view : views) {
      SupportedProperties& lists = lists_.emplace_back(whole.lists);
      for (const auto& [ns, origin] : origins_) {
        if (origin == plan::ListOrigin::builtin)
          lists.insert_or_assign(ns, providers::find_provider(ns)->supported(view, {}));
      }
    }
    if (lists_.empty()) lists_.push_back(std::move(whole.lists));
  }

  [[nodiscard]] bool is_for(const wheel::VariantMetadata& document) const {
    return document.namespaces == document_.namespaces && document.providers == document_.providers;
  }
  [[nodiscard]] bool comes_from(const Run& run, plan::ListOrigin wanted) const {
    const auto origin = origins_.find(run.front().ns);
    return origin != origins_.end() && origin->second == wanted;
  }
  [[nodiscard]] bool asks_plugins() const {
    return std::ranges::any_of(origins_, [](const auto& row) {
      return row.second != plan::ListOrigin::builtin && row.second != plan::ListOrigin::static_list;
    });
  }
  /// Some GPU, or the machine, supports no value of it.
  [[nodiscard]] bool fails(const Run& run) const {
    return std::ranges::any_of(lists_, [&](const SupportedProperties& lists) {
      return std::ranges::none_of(
          run, [&](const wheel::Property& property) { return is_in(lists, property); });
    });
  }

 private:
  const wheel::VariantMetadata& document_;
  std::map<std::string, plan::ListOrigin, std::less<>> origins_;
  std::vector<SupportedProperties> lists_;
};

std::vector<Run> runs_of(const wheel::VariantProperties& properties) {
  std::vector<Run> runs;
  for (const wheel::Property& property : properties) {
    const bool same = !runs.empty() && runs.back().front().ns == property.ns &&
                      runs.back().front().feature == property.feature;
    if (!same) runs.emplace_back();
    runs.back().push_back(property);
  }
  return runs;
}

/// Of several reasons the one that holds for most machines: code that no GPU runs is said of
/// machines without a GPU as well, whatever their driver.
int breadth(const Run& run) {
  const wheel::Property& first = run.front();
  const std::vector<std::string> facts = facts_behind(first);
  const auto depends_on = [&](std::string_view fact) {
    return std::ranges::find(facts, fact) != facts.end();
  };
  if (first.ns == "axle" && first.feature == "gpu") return 3;
  if (facts.size() == 1 && (depends_on("sm") || depends_on("gfx") || depends_on("device")))
    return 0;
  return depends_on("sm") ? 1 : 2;
}

void add_variant(const LookedAt::Document& looked, const wheel::VariantProperties& properties,
                 const DocumentLists& lists, UsedInputs& used) {
  const wheel::VariantMetadata& document = *looked.metadata;
  std::vector<Run> reasons;
  std::vector<Run> met;
  for (const Run& run : runs_of(properties)) {
    // Versions of other packages are chosen with it.
    if (wheel::is_abi_namespace(document, run.front().ns)) continue;
    const bool builtin = lists.comes_from(run, plan::ListOrigin::builtin);
    if (!lists.fails(run)) {
      if (builtin) met.push_back(run);
    } else if (builtin) {
      reasons.push_back(run);
    } else if (!lists.comes_from(run, plan::ListOrigin::plugin)) {
      return;  // it fits nowhere
    }
  }
  const auto reason = std::ranges::min_element(reasons, {}, breadth);
  if (reason != reasons.end()) {
    used.runs.insert(*reason);
  } else if (looked.is_ordered && !used.variant_markers && used.foreign.empty()) {
    used.runs.insert(met.begin(), met.end());
  } else {
    used.properties.insert(properties.begin(), properties.end());
  }
}

}  // namespace

void add_used_properties(const LookedAt& looked, const Target& target, const Options& options,
                         UsedInputs& used) {
  std::deque<DocumentLists> known;
  for (const LookedAt::Document& document : looked.documents) {
    const wheel::VariantMetadata& metadata = *document.metadata;
    auto lists = std::ranges::find_if(known, [&](const DocumentLists& one) {
      return one.is_for(metadata) && !one.asks_plugins();
    });
    if (lists == known.end()) {
      known.emplace_back(metadata, target, options);
      lists = std::prev(known.end());
    }
    for (const std::string& label : document.labels)
      add_variant(document, metadata.variants.at(label), *lists, used);
  }
  const SupportedProperties own = {{"axle", providers::find_provider("axle")->supported(
                                                *target.machine, {providers::GpuRule::any})}};
  for (const index::Family* family : looked.families) {
    std::vector<wheel::Property> vendors;
    for (const index::FamilyLabel& label : family->labels) {
      if (!label.vendor.empty()) vendors.push_back({"axle", "gpu", label.vendor});
    }
    // One is enough; that there is none is said of each.
    const auto there = std::ranges::find_if(
        vendors, [&](const wheel::Property& vendor) { return is_in(own, vendor); });
    if (there != vendors.end()) {
      used.properties.insert(*there);
    } else {
      used.properties.insert(vendors.begin(), vendors.end());
    }
  }
}

}  // namespace axle::resolver
