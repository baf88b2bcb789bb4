#include "builder/repack/added_properties.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/table/property_checks.h"
#include "foundation/text/nearest.h"
#include "providers/exclusive_properties.h"
#include "providers/provider.h"

namespace axle::builder {

namespace {

std::vector<std::string> names_of(const providers::Features& features) {
  std::vector<std::string> names;
  for (const providers::Feature& feature : features) names.push_back(feature.name);
  return names;
}

Result<void> check_known(const providers::Provider& provider, const wheel::Property& property) {
  if (provider.every_value_fits) return {};
  const providers::Features features = provider.all();
  const auto feature = std::ranges::find(features, property.feature, &providers::Feature::name);
  const bool open =
      std::ranges::find(provider.open_features, property.feature) != provider.open_features.end();
  const std::string text = wheel::render_property(property);
  if (feature == features.end() && !open) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: namespace {} has no such feature", text, property.ns),
                text::suggest(property.feature, names_of(features),
                              "it has " + text::joined_by_or(names_of(features))));
  }
  if (open || feature->values.empty() ||
      std::ranges::find(feature->values, property.value) != feature->values.end())
    return {};
  std::string hint = text::did_you_mean(property.value, feature->values);
  if (hint.empty()) hint = "nearest known: " + text::nearest_words(property.value, feature->values);
  return fail(ErrorKind::malformed,
              fmt::format("{}: no machine has this value of {}", text, property.feature),
              std::move(hint));
}

/// `what`: where the namespace is named, for the message.
Result<const providers::Provider*> bundled_provider(const std::string& ns,
                                                    const std::string& what) {
  const providers::Provider* provider = providers::find_provider(ns);
  if (provider != nullptr) return provider;
  return fail(ErrorKind::malformed, fmt::format("{}: there is no namespace {}", what, ns),
              text::suggest(ns, providers::builtin_namespaces(),
                            "`variant providers list` shows those that are known"));
}

wheel::ProviderInfo declared(const providers::Provider& provider) {
  wheel::ProviderInfo info;
  info.requires_ = {std::string(provider.package)};
  if (!provider.plugin_apis.empty()) info.plugin_api = provider.plugin_apis.front();
  return info;
}

/// The namespaces in the order of all variants of the release.
Result<void> put_in_order(wheel::VariantMetadata& metadata, const std::vector<std::string>& order) {
  const std::string title = fmt::format("--namespace-order {}", fmt::join(order, ","));
  for (auto one = order.begin(); one != order.end(); ++one) {
    if (std::find(order.begin(), one, *one) != one)
      return fail(ErrorKind::malformed, fmt::format("{}: {} is there twice", title, *one));
    if (metadata.providers.contains(*one)) continue;
    const auto provider = bundled_provider(*one, title);
    if (!provider) return std::unexpected(provider.error());
    metadata.providers.emplace(*one, declared(**provider));
  }
  for (const std::string& ns : metadata.namespaces) {
    if (std::ranges::find(order, ns) != order.end()) continue;
    return fail(ErrorKind::mismatch,
                fmt::format("{}: the variant has the namespace {}, too", title, ns),
                "name all namespaces of the release's variants");
  }
  metadata.namespaces = order;
  return {};
}

/// No machine has the wheel's platform and a property of another architecture.
Result<void> check_platform(const wheel::WheelFile& file,
                            const wheel::VariantProperties& properties) {
  const std::string architecture = wheel::architecture_of(file.name.tags);
  if (architecture.empty()) return {};
  std::vector<std::string> others;
  for (const wheel::Property& one : properties) {
    const detect::Arch own = providers::architecture_of({one.ns, one.feature, one.value});
    if (own != detect::Arch::other && detect::render_arch(own) != architecture)
      others.push_back(wheel::render_property(one));
  }
  if (others.empty()) return {};
  return fail(ErrorKind::mismatch,
              fmt::format("{}: {} {} of another CPU architecture than its tag, {}",
                          wheel::render_wheel_name(file.name), fmt::join(others, ", "),
                          others.size() == 1 ? "is" : "are", architecture),
              "no machine could install it: leave the property out, or take the wheel for the "
              "other architecture");
}

}  // namespace

wheel::VariantProperties own_properties(const wheel::WheelFile& file) {
  if (!file.variant) return {};
  const auto own = file.variant->variants.find(file.name.label);
  return own == file.variant->variants.end() ? wheel::VariantProperties() : own->second;
}

Result<wheel::VariantMetadata> with_properties(const wheel::WheelFile& file,
                                               const std::string& label,
                                               const wheel::VariantProperties& properties,
                                               const std::vector<std::string>& order) {
  wheel::VariantMetadata metadata = file.variant.value_or(wheel::VariantMetadata{});
  if (!file.variant) metadata.schema_version = "0.2.0";
  const wheel::VariantProperties own = own_properties(file);
  metadata.variants.clear();
  metadata.variants[label] = properties;
  for (const wheel::Property& property : properties) {
    if (own.contains(property)) continue;
    const auto provider = bundled_provider(property.ns, wheel::render_property(property));
    if (!provider) return std::unexpected(provider.error());
    if (auto known = check_known(**provider, property); !known)
      return std::unexpected(std::move(known).error());
    if (std::ranges::find(metadata.namespaces, property.ns) == metadata.namespaces.end())
      metadata.namespaces.push_back(property.ns);
    metadata.providers.emplace(property.ns, declared(**provider));
  }
  if (!order.empty()) {
    if (auto ordered = put_in_order(metadata, order); !ordered)
      return std::unexpected(std::move(ordered).error());
  }
  CollectedReport unchecked;  // namespaces of the wheel whose providers are not known here
  const std::string conflict = KnownProperties(metadata, unchecked).conflict_in(properties);
  if (conflict.empty()) {
    if (auto fit = check_platform(file, properties); !fit) return std::unexpected(fit.error());
    return metadata;
  }
  return fail(ErrorKind::mismatch, fmt::format("variant {}: {}", label, conflict),
              "make a variant for each, with a --label of its own");
}

}  // namespace axle::builder
