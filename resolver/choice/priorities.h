#pragma once
// The priorities of one document against the supported lists of one target, prepared for ranking:
// (namespace, feature, value) -> RankKey without building a string.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "resolver/choice/ranking.h"
#include "wheel/variant/abi_dependency.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

inline constexpr std::size_t no_position = static_cast<std::size_t>(-1);

[[nodiscard]] inline std::string_view name_of(const std::string& name) { return name; }
[[nodiscard]] inline std::string_view name_of(const providers::Feature& feature) {
  return feature.name;
}

/// First position of each name of a list, which it does not own. Lists of the usual length are
/// scanned, longer ones hashed, so that a hostile document cannot make ranking quadratic.
template <class Item>
class Positions {
 public:
  static constexpr std::size_t longest_scan = 128;

  Positions() = default;
  explicit Positions(const std::vector<Item>& items) : items_(&items) {
    if (items.size() > longest_scan) fill_slots();
  }

  [[nodiscard]] std::size_t size() const { return items_ == nullptr ? 0 : items_->size(); }

  [[nodiscard]] std::size_t find(std::string_view name) const {
    if (!slots_.empty()) return find_hashed(name);
    for (std::size_t position = 0; position < size(); ++position) {
      if (same(name_of((*items_)[position]), name)) return position;
    }
    return no_position;
  }

 private:
  /// Neighbours in a list differ in the last byte or in the first: most comparisons end there.
  static bool same(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    return left.empty() ||
           (left.back() == right.back() && left.front() == right.front() && left == right);
  }

  [[nodiscard]] std::size_t first_slot(std::string_view name) const {
    return std::hash<std::string_view>{}(name) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t next_slot(std::size_t slot) const {
    return (slot + 1) & (slots_.size() - 1);
  }
  [[nodiscard]] std::string_view name_in(std::size_t slot) const {
    return name_of((*items_)[slots_[slot] - 1]);
  }

  void fill_slots() {
    slots_.assign(std::bit_ceil(items_->size() * 2), 0);
    for (std::size_t position = 0; position < items_->size(); ++position) {
      const std::string_view name = name_of((*items_)[position]);
      std::size_t slot = first_slot(name);
      while (slots_[slot] != 0 && name_in(slot) != name) slot = next_slot(slot);
      if (slots_[slot] == 0) slots_[slot] = static_cast<std::uint32_t>(position + 1);
    }
  }

  [[nodiscard]] std::size_t find_hashed(std::string_view name) const {
    std::size_t slot = first_slot(name);
    while (slots_[slot] != 0) {
      if (name_in(slot) == name) return slots_[slot] - 1;
      slot = next_slot(slot);
    }
    return no_position;
  }

  const std::vector<Item>* items_ = nullptr;
  std::vector<std::uint32_t> slots_;  ///< open addressing; position + 1, 0 is free
};

/// One supported feature: its place, and the places of its values. A 0.0.x table counts before the
/// provider's order; only what the provider lists is supported.
struct FeatureOrder {
  std::size_t index = 0;
  Positions<std::string> preferred;
  Positions<std::string> supported;

  /// no_position for an unsupported value.
  [[nodiscard]] std::size_t value_index(std::string_view value) const;
};

/// Keeps views into the metadata and the lists: both must outlive it.
class Priorities {
 public:
  Priorities(const wheel::VariantMetadata& metadata, const SupportedProperties& supported);

  /// Index of a namespace; no_position for one without a place.
  [[nodiscard]] std::size_t namespace_index(std::string_view ns) const;
  /// nullptr when the target supports no such feature.
  [[nodiscard]] const FeatureOrder* feature(std::size_t ns_index, std::string_view feature) const;

 private:
  struct NamespaceOrder {
    const providers::Features* supported = nullptr;
    const std::vector<wheel::FeatureValues>* value_tables = nullptr;
    Positions<std::string> preferred;
    Positions<providers::Feature> features;
    /// Built on first use: a provider lists dozens of features, a release uses a few.
    mutable std::vector<std::unique_ptr<FeatureOrder>> orders;
  };

  Positions<std::string> names_;
  std::vector<NamespaceOrder> namespaces_;  ///< behind the document's own: abi_dependency
};

}  // namespace axle::resolver
