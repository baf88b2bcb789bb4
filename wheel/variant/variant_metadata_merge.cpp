#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/quote.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/variant/variant_schema.h"

namespace axle::wheel {
namespace {

/// Two documents of one release and the names of where they come from.
struct Pair {
  const VariantMetadata& left;
  std::string_view left_where;
  const VariantMetadata& right;
  std::string_view right_where;

  [[nodiscard]] std::unexpected<Error> conflict(std::string_view what, std::string_view left_says,
                                                std::string_view right_says) const {
    return fail(ErrorKind::mismatch,
                fmt::format("{} differs: {} has {}, {} has {}", what, left_where, left_says,
                            right_where, right_says),
                "all wheels of one release must be built from the same variant table, or repacked "
                "with the same --namespace-order");
  }
};

std::string join_list(const std::vector<std::string>& list) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}

std::string describe(const VariantProperties& properties) {
  std::string text;
  for (const Property& property : properties) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", render_property(property));
  }
  return text.empty() ? "no properties" : text;
}

std::string describe(const std::vector<FeatureValues>& features) {
  std::string text;
  for (const FeatureValues& entry : features) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", entry.feature, join_list(entry.values));
  }
  return fmt::format("{{{}}}", text);
}

std::string describe(const std::vector<std::string>& list) { return join_list(list); }

std::string describe(const ProviderInfo& provider) {
  std::string text;
  const auto add = [&text](std::string_view key, std::string_view value) {
    if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value);
  };
  add("requires", provider.requires_.empty() ? "" : join_list(provider.requires_));
  add("plugin-api", provider.plugin_api);
  add("builtin", provider.builtin);
  add("static-properties",
      provider.static_properties ? describe(*provider.static_properties) : std::string());
  add("enable-if", provider.enable_if);
  add("optional", provider.optional ? "true" : "");
  add("install-time", provider.install_time ? "" : "false");
  return fmt::format("({})", text);
}

Result<std::vector<std::string>> merge_namespaces(const Pair& pair) {
  const auto& left = pair.left.namespaces;
  const auto& right = pair.right.namespaces;
  const std::size_t common = std::min(left.size(), right.size());
  if (!std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(common),
                  right.begin())) {
    return pair.conflict("the order of namespaces", join_list(left), join_list(right));
  }
  return left.size() >= right.size() ? left : right;
}

/// The union of two tables by key; a key that both have must have equal values.
template <class Table>
Result<Table> merge_tables(const Pair& pair, const Table& left, const Table& right,
                           std::string_view what) {
  Table merged = left;
  for (const auto& [key, value] : right) {
    const auto [place, is_new] = merged.emplace(key, value);
    if (!is_new && place->second != value) {
      return pair.conflict(fmt::format("{} {}", what, text::quote(key)), describe(place->second),
                           describe(value));
    }
  }
  return merged;
}

/// Priority tables of 0.0.x: where both documents know a namespace, what one does not say counts as
/// said differently, since it changes the order of the variants.
template <class Table>
Result<Table> merge_priorities(const Pair& pair, const Table& left, const Table& right,
                               std::string_view what) {
  const auto entry = [](const Table& table, const std::string& ns) {
    const auto found = table.find(ns);
    return found == table.end() ? typename Table::mapped_type{} : found->second;
  };
  const std::size_t common = std::min(pair.left.namespaces.size(), pair.right.namespaces.size());
  for (std::size_t i = 0; i < common; ++i) {
    const std::string& ns = pair.left.namespaces[i];
    const auto left_entry = entry(left, ns);
    const auto right_entry = entry(right, ns);
    if (left_entry != right_entry) {
      return pair.conflict(fmt::format("{} {}", what, text::quote(ns)), describe(left_entry),
                           describe(right_entry));
    }
  }
  return merge_tables(pair, left, right, what);
}

Result<std::string> merge_versions(const Pair& pair) {
  const auto left = parse_schema_version(pair.left.schema_version);
  const auto right = parse_schema_version(pair.right.schema_version);
  if (!left || !right || left->is_draft() != right->is_draft()) {
    return pair.conflict("the version of the metadata", pair.left.schema_version,
                         pair.right.schema_version);
  }
  return *left < *right ? pair.right.schema_version : pair.left.schema_version;
}

}  // namespace

Result<VariantMetadata> merge_variant_metadata(const VariantMetadata& left,
                                               std::string_view left_where,
                                               const VariantMetadata& right,
                                               std::string_view right_where) {
  const Pair pair{left, left_where, right, right_where};
  VariantMetadata merged;
  auto version = merge_versions(pair);
  if (!version) return std::unexpected(std::move(version).error());
  merged.schema_version = std::move(*version);
  auto namespaces = merge_namespaces(pair);
  if (!namespaces) return std::unexpected(std::move(namespaces).error());
  merged.namespaces = std::move(*namespaces);
  auto providers = merge_tables(pair, left.providers, right.providers, "the provider");
  if (!providers) return std::unexpected(std::move(providers).error());
  merged.providers = std::move(*providers);
  auto variants = merge_tables(pair, left.variants, right.variants, "the label");
  if (!variants) return std::unexpected(std::move(variants).error());
  merged.variants = std::move(*variants);
  auto features = merge_priorities(pair, left.feature_priorities, right.feature_priorities,
                                   "the feature order of");
  if (!features) return std::unexpected(std::move(features).error());
  merged.feature_priorities = std::move(*features);
  auto properties = merge_priorities(pair, left.property_priorities, right.property_priorities,
                                     "the property order of");
  if (!properties) return std::unexpected(std::move(properties).error());
  merged.property_priorities = std::move(*properties);
  return merged;
}

}  // namespace axle::wheel
