#pragma once
// Variant metadata (PEP 825, PEP 850; the older 0.0.x of PEP 817): `variant.json` inside a wheel
// and
// `{name}-{version}-variants.json` on an index, one structure for both.

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::wheel {

/// "namespace :: feature :: value". The PEP's word "namespace" is a keyword: the member is `ns`.
struct Property {
  std::string ns;
  std::string feature;
  std::string value;
  friend auto operator<=>(const Property&, const Property&) = default;
};

/// Spaces around "::" are ignored. Error: malformed.
[[nodiscard]] Result<Property> parse_property(std::string_view text);
[[nodiscard]] std::string render_property(const Property& property);

/// feature -> ordered values. Insertion order kept: in static lists and 0.0.x tables it counts.
struct FeatureValues {
  std::string feature;
  std::vector<std::string> values;
  friend bool operator==(const FeatureValues&, const FeatureValues&) = default;
};

/// How the supported properties of one namespace come about (PEP 850 "providers").
struct ProviderInfo {
  bool optional = false;
  std::vector<std::string> requires_;  ///< PEP 508 strings of the plugin package
  std::string plugin_api;  ///< "module(:object)"; empty: derived from the first requirement
  std::string builtin;     ///< name of a provider that the tool carries
  /// Lists that are used exclusively, in feature order (`feature-order` already applied).
  std::optional<std::vector<FeatureValues>> static_properties;
  std::string enable_if;  ///< 0.0.x: marker; empty otherwise
  /// 0.0.2 `plugin-use: build|none`, 0.0.3 `install-time: false`: supported lists are the
  /// metadata's own property priorities, no plugin is asked.
  bool install_time = true;
  friend bool operator==(const ProviderInfo&, const ProviderInfo&) = default;
};

/// The properties of one variant: sets. Empty for `null`.
using VariantProperties = std::set<Property>;

struct VariantMetadata {
  std::string schema_version;  ///< "0.2.0", "0.0.3", …; as found or, for a new document, as written
  std::vector<std::string> namespaces;  ///< default-priorities.namespace, most important first
  std::map<std::string, ProviderInfo, std::less<>> providers;
  std::map<std::string, VariantProperties, std::less<>> variants;  ///< label -> properties
  /// 0.0.x only: default-priorities.feature.{ns} and .property.{ns}.{feature}; they come before the
  /// provider's own order.
  std::map<std::string, std::vector<std::string>, std::less<>> feature_priorities;
  std::map<std::string, std::vector<FeatureValues>, std::less<>> property_priorities;
  friend bool operator==(const VariantMetadata&, const VariantMetadata&) = default;
};

inline constexpr std::string_view null_label = "null";

/// The label means the null variant of this document: `null`, or in 0.0.x a label without
/// properties.
[[nodiscard]] bool is_null_variant(const VariantMetadata& metadata, std::string_view label);

/// Reads 0.0.2, 0.0.3, 0.1.x and 0.2.x; newer minors of a known major are read with a note in
/// `report`. `where` is the file or URL named in errors. Errors: malformed (JSON path in the
/// message), unsupported (unknown major version). Duplicate JSON keys are malformed. Depth and size
/// are bounded.
[[nodiscard]] Result<VariantMetadata> parse_variant_metadata(std::string_view json,
                                                             std::string_view where,
                                                             Report& report);

enum class MetadataForm { pep850, variantlib };  ///< which `$schema` URL is written

/// 0.2.0, so that uv and variantlib take it: keys in the order of the PEP, sets sorted.
/// Error: unsupported, when the document uses what 0.2.0 cannot say (0.0.x tables).
[[nodiscard]] Result<std::string> render_variant_metadata(const VariantMetadata& metadata,
                                                          MetadataForm form = MetadataForm::pep850);

/// 0.0.3, for documents of 0.0.x, whose tables 0.2.0 has no words for. Error: unsupported, for one
/// of another version.
[[nodiscard]] Result<std::string> render_draft_metadata(const VariantMetadata& metadata);

/// The document for one wheel: `label` alone, namespaces that it does not use kept (PEP 825 keeps
/// priorities whole). Error: not_found.
[[nodiscard]] Result<VariantMetadata> only_variant(const VariantMetadata& metadata,
                                                   std::string_view label);

/// Combines the metadata of two wheels of one release: namespace lists equal or one a prefix of the
/// other (the longer wins), providers equal where both know the namespace, one label one property
/// set (PEP 825: the metadata of one release must agree). Error: mismatch, naming both `where`s.
[[nodiscard]] Result<VariantMetadata> merge_variant_metadata(const VariantMetadata& left,
                                                             std::string_view left_where,
                                                             const VariantMetadata& right,
                                                             std::string_view right_where);

}  // namespace axle::wheel
