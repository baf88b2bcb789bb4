#pragma once
// The priorities of one document against the supported lists of one target, prepared for ranking:
// (namespace, feature, value) -> RankKey without building a string.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resolver/ranking.h"
#include "wheel/variant_metadata.h"

namespace axle::resolver {

/// First position of each name of a list. Short lists are scanned, long ones hashed, so that a
/// hostile document cannot make ranking quadratic.
class Positions {
 public:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  void add(std::string_view name) { names_.push_back(name); }
  /// Called once, after the last add.
  void finish();
  [[nodiscard]] std::size_t find(std::string_view name) const;
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string_view> names_;
  std::vector<std::uint32_t>
      slots_;  ///< open addressing; position + 1, 0 is free; empty for short lists
};

/// One supported feature: its place, and the places of its values. A 0.0.x table counts before the
/// provider's order; only what the provider lists is supported.
struct FeatureOrder {
  std::size_t index = 0;
  Positions preferred;
  Positions supported;

  /// npos for an unsupported value.
  [[nodiscard]] std::size_t value_index(std::string_view value) const;
};

/// Keeps views into the metadata and the lists: both must outlive it.
class Priorities {
 public:
  Priorities(const wheel::VariantMetadata& metadata, const SupportedProperties& supported);

  /// Index of a namespace; npos for one without a place.
  [[nodiscard]] std::size_t namespace_index(std::string_view ns) const { return names_.find(ns); }
  /// nullptr when the target supports no such feature.
  [[nodiscard]] const FeatureOrder* feature(std::size_t ns_index, std::string_view feature) const;

 private:
  struct NamespaceOrder {
    const providers::Features* supported = nullptr;
    const std::vector<wheel::FeatureValues>* value_tables = nullptr;
    Positions preferred;
    Positions features;
    /// Built on first use: a provider lists dozens of features, a release uses a few.
    mutable std::vector<std::unique_ptr<FeatureOrder>> orders;
  };

  Positions names_;
  std::vector<NamespaceOrder> namespaces_;
};

}  // namespace axle::resolver
