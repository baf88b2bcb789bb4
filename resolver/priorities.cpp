#include "resolver/priorities.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace axle::resolver {
namespace {

constexpr std::size_t longest_scan = 16;

}  // namespace

void Positions::finish() {
  if (names_.size() <= longest_scan) return;
  slots_.assign(std::bit_ceil(names_.size() * 2), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t position = 0; position < names_.size(); ++position) {
    std::size_t slot = std::hash<std::string_view>{}(names_[position]) & mask;
    while (slots_[slot] != 0 && names_[slots_[slot] - 1] != names_[position]) {
      slot = (slot + 1) & mask;
    }
    if (slots_[slot] == 0) slots_[slot] = static_cast<std::uint32_t>(position + 1);
  }
}

std::size_t Positions::find(std::string_view name) const {
  if (slots_.empty()) {
    for (std::size_t position = 0; position < names_.size(); ++position) {
      if (names_[position] == name) return position;
    }
    return npos;
  }
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(name)&mask;
  while (slots_[slot] != 0) {
    if (names_[slots_[slot] - 1] == name) return slots_[slot] - 1;
    slot = (slot + 1) & mask;
  }
  return npos;
}

std::size_t FeatureOrder::value_index(std::string_view value) const {
  const std::size_t own = supported.find(value);
  if (own == Positions::npos || preferred.size() == 0) return own;
  const std::size_t first = preferred.find(value);
  return first != Positions::npos ? first : preferred.size() + own;
}

Priorities::Priorities(const wheel::VariantMetadata& metadata,
                       const SupportedProperties& supported) {
  for (const std::string& ns : metadata.namespaces) names_.add(ns);
  if (std::ranges::find(metadata.namespaces, abi_dependency) == metadata.namespaces.end()) {
    names_.add(abi_dependency);
  }
  names_.finish();
  namespaces_.resize(names_.size());
  for (std::size_t i = 0; i < namespaces_.size(); ++i) {
    const std::string_view ns =
        i < metadata.namespaces.size() ? std::string_view(metadata.namespaces[i]) : abi_dependency;
    NamespaceOrder& order = namespaces_[i];
    if (const auto list = supported.find(ns); list != supported.end()) {
      order.supported = &list->second;
      for (const providers::Feature& feature : list->second) order.features.add(feature.name);
      order.features.finish();
      order.orders.resize(list->second.size());
    }
    if (const auto table = metadata.feature_priorities.find(ns);
        table != metadata.feature_priorities.end()) {
      for (const std::string& feature : table->second) order.preferred.add(feature);
      order.preferred.finish();
    }
    if (const auto table = metadata.property_priorities.find(ns);
        table != metadata.property_priorities.end()) {
      order.value_tables = &table->second;
    }
  }
}

const FeatureOrder* Priorities::feature(std::size_t ns_index, std::string_view feature) const {
  const NamespaceOrder& ns = namespaces_[ns_index];
  const std::size_t own = ns.features.find(feature);
  if (own == Positions::npos) return nullptr;
  std::unique_ptr<FeatureOrder>& order = ns.orders[own];
  if (order != nullptr) return order.get();
  order = std::make_unique<FeatureOrder>();
  const std::size_t first = ns.preferred.find(feature);
  order->index = first != Positions::npos ? first : ns.preferred.size() + own;
  for (const std::string& value : (*ns.supported)[own].values) order->supported.add(value);
  order->supported.finish();
  if (ns.value_tables != nullptr) {
    const auto table = std::ranges::find(*ns.value_tables, feature, &wheel::FeatureValues::feature);
    if (table != ns.value_tables->end()) {
      for (const std::string& value : table->values) order->preferred.add(value);
    }
  }
  order->preferred.finish();
  return order.get();
}

}  // namespace axle::resolver
