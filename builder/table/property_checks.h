#pragma once
// What can be wrong with a variant's properties before anything is built: that their provider does
// not know them, or that no machine has all of them.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/documents/toml_reader.h"
#include "foundation/report/report.h"
#include "providers/provider.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::builder {

/// Where the properties are written: errors get the place of `key` there.
struct PropertyPlace {
  documents::TomlTable& table;
  std::string key;
};

/// The valid properties of the namespaces of one document.
class KnownProperties {
 public:
  /// A note for each namespace whose provider is unknown here: its properties are not checked.
  KnownProperties(const wheel::VariantMetadata& metadata, Report& report);

  /// Refuses unknown namespaces, features and values, with the nearest known ones, and values of
  /// an ABI namespace that are none.
  void check(const PropertyPlace& place, const wheel::VariantProperties& properties) const;
  /// What properties contradict each other: several values of a feature that has one, two CPU
  /// architectures, a lower bound that is not below the upper one. Empty: none.
  [[nodiscard]] std::string conflict_in(const wheel::VariantProperties& properties) const;
  /// Refuses those.
  void check_together(const PropertyPlace& place, std::string_view label,
                      const wheel::VariantProperties& properties) const;

 private:
  /// Of a namespace, by feature; a feature without values accepts any.
  using Values = std::map<std::string, providers::Feature, std::less<>>;

  static std::optional<Values> values_of(std::string_view ns, const wheel::ProviderInfo& info);
  void check_one(const PropertyPlace& place, const wheel::Property& property) const;
  [[nodiscard]] std::string elsewhere(const wheel::Property& property) const;

  const wheel::VariantMetadata& metadata_;
  std::map<std::string, Values, std::less<>> values_;
};

}  // namespace axle::builder
