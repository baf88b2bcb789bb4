#include "resolver/choice/priorities.h"

#include <algorithm>

namespace axle::resolver {

std::size_t FeatureOrder::value_index(std::string_view value) const {
  const std::size_t own = supported.find(value);
  if (own == no_position || preferred.size() == 0) return own;
  const std::size_t first = preferred.find(value);
  return first != no_position ? first : preferred.size() + own;
}

Priorities::Priorities(const wheel::VariantMetadata& metadata, const SupportedProperties& supported)
    : names_(metadata.namespaces), namespaces_(metadata.namespaces.size() + 1) {
  for (std::size_t i = 0; i < namespaces_.size(); ++i) {
    const std::string_view ns = i < metadata.namespaces.size()
                                    ? std::string_view(metadata.namespaces[i])
                                    : wheel::abi_dependency;
    NamespaceOrder& order = namespaces_[i];
    if (const auto list = supported.find(ns); list != supported.end()) {
      order.supported = &list->second;
      order.features = Positions(list->second);
      order.orders.resize(list->second.size());
    }
    if (const auto table = metadata.feature_priorities.find(ns);
        table != metadata.feature_priorities.end()) {
      order.preferred = Positions(table->second);
    }
    if (const auto table = metadata.property_priorities.find(ns);
        table != metadata.property_priorities.end()) {
      order.value_tables = &table->second;
    }
  }
}

std::size_t Priorities::namespace_index(std::string_view ns) const {
  const std::size_t index = names_.find(ns);
  return index == no_position && ns == wheel::abi_dependency ? names_.size() : index;
}

const FeatureOrder* Priorities::feature(std::size_t ns_index, std::string_view feature) const {
  const NamespaceOrder& ns = namespaces_[ns_index];
  const std::size_t own = ns.features.find(feature);
  if (own == no_position) return nullptr;
  std::unique_ptr<FeatureOrder>& order = ns.orders[own];
  if (order != nullptr) return order.get();
  order = std::make_unique<FeatureOrder>();
  const std::size_t first = ns.preferred.find(feature);
  order->index = first != no_position ? first : ns.preferred.size() + own;
  order->supported = Positions((*ns.supported)[own].values);
  if (ns.value_tables != nullptr) {
    const auto table = std::ranges::find(*ns.value_tables, feature, &wheel::FeatureValues::feature);
    if (table != ns.value_tables->end()) order->preferred = Positions(table->values);
  }
  return order.get();
}

}  // namespace axle::resolver
