#include "wheel/variant/variant_provider_read.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/quote.h"
#include "wheel/marker.h"
#include "wheel/requirement.h"

namespace axle::wheel {
namespace {

/// Takes a dotted name from the front of `text`; false when there is none.
bool take_dotted_name(std::string_view& text) {
  const std::size_t end =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
  if (text.empty() || end == 0) return false;
  text.remove_prefix(std::min(end, text.size()));
  return true;
}

void skip_spaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

/// "module" or "module:object", both dotted, spaces around the colon.
bool is_plugin_api(std::string_view text) {
  if (!take_dotted_name(text)) return false;
  if (text.empty()) return true;
  skip_spaces(text);
  if (!text.starts_with(':')) return false;
  text.remove_prefix(1);
  skip_spaces(text);
  return take_dotted_name(text) && text.empty();
}

/// Reads one provider at a time.
class ProviderReader {
 public:
  ProviderReader(DocumentReader& reader, const SchemaVersion& version)
      : reader_(reader), version_(version) {}

  bool read(const documents::JsonNode& table, const Place& place, ProviderInfo& provider) {
    if (!reader_.check_keys(
            table,
            {"optional", "requires", "static-properties", "builtin", "plugin-api", "feature-order"},
            version_ > newest_schema, place) ||
        !check_provider_kind(table, place) ||
        !reader_.read_flag(table, "optional", place, provider.optional)) {
      return false;
    }
    if (const documents::JsonNode* node = table.find("requires")) {
      return read_requires(*node, {&place, "requires"}, false, provider) &&
             read_plugin_api(table, place, provider);
    }
    if (table.find("static-properties") != nullptr) {
      return read_static_properties(table, place, provider);
    }
    return reader_.read_text(table, "builtin", place, is_plain_text, "provider name",
                             provider.builtin);
  }

  bool read_draft(const documents::JsonNode& table, const Place& place, ProviderInfo& provider) {
    if (!reader_.check_keys(
            table,
            {"optional", "requires", "plugin-api", "enable-if", "install-time", "plugin-use"},
            false, place) ||
        !reader_.read_flag(table, "optional", place, provider.optional) ||
        !reader_.read_flag(table, "install-time", place, provider.install_time) ||
        !read_plugin_use(table, place, provider) || !read_plugin_api(table, place, provider) ||
        !read_enable_if(table, place, provider)) {
      return false;
    }
    if (const documents::JsonNode* node = table.find("requires")) {
      return read_requires(*node, {&place, "requires"}, !provider.install_time, provider);
    }
    return !provider.install_time || reader_.complain(place, "the key \"requires\" is missing");
  }

 private:
  bool check_provider_kind(const documents::JsonNode& table, const Place& place) {
    const bool plugin = table.find("requires") != nullptr;
    const bool fixed = table.find("static-properties") != nullptr;
    const bool builtin = table.find("builtin") != nullptr;
    const int kinds = int{plugin} + int{fixed} + int{builtin};
    if (kinds == 0 && version_ > newest_schema) {
      reader_.note(place, "an unknown kind of provider");
      return true;
    }
    if (kinds != 1) {
      return reader_.complain(
          place,
          fmt::format(
              "{} of \"requires\", \"static-properties\" and \"builtin\" instead of exactly one",
              kinds == 0 ? "none" : "more than one"));
    }
    if (!plugin && table.find("plugin-api") != nullptr) {
      return reader_.complain({&place, "plugin-api"}, "is only valid with \"requires\"");
    }
    if (!fixed && table.find("feature-order") != nullptr) {
      return reader_.complain({&place, "feature-order"},
                              "is only valid with \"static-properties\"");
    }
    return true;
  }

  bool read_plugin_use(const documents::JsonNode& table, const Place& place,
                       ProviderInfo& provider) {
    std::string use;
    const DocumentReader::Check check = [](std::string_view text) {
      return text == "all" || text == "build" || text == "none";
    };
    if (!reader_.read_text(table, "plugin-use", place, check, "use of a plugin (all, build, none)",
                           use)) {
      return false;
    }
    if (!use.empty() && table.find("install-time") != nullptr) {
      return reader_.complain(place, "both \"plugin-use\" and \"install-time\"");
    }
    if (!use.empty()) provider.install_time = use == "all";
    return true;
  }

  bool read_plugin_api(const documents::JsonNode& table, const Place& place,
                       ProviderInfo& provider) {
    return reader_.read_text(table, "plugin-api", place, is_plugin_api,
                             "\"module\" or \"module:object\"", provider.plugin_api);
  }

  bool read_enable_if(const documents::JsonNode& table, const Place& place,
                      ProviderInfo& provider) {
    if (!reader_.read_text(table, "enable-if", place, is_plain_text, "marker",
                           provider.enable_if)) {
      return false;
    }
    if (provider.enable_if.empty()) return true;
    const auto marker = parse_marker(provider.enable_if);
    return marker ||
           reader_.complain({&place, "enable-if"}, marker.error().message, marker.error().hint);
  }

  bool read_requires(const documents::JsonNode& node, const Place& place, bool may_be_empty,
                     ProviderInfo& provider) {
    if (!reader_.read_list(node, place, is_plain_text, "requirement", may_be_empty,
                           provider.requires_)) {
      return false;
    }
    for (std::size_t i = 0; i < provider.requires_.size(); ++i) {
      const auto requirement = parse_requirement(provider.requires_[i]);
      if (requirement) continue;
      return reader_.complain({&place, {}, i}, requirement.error().message,
                              requirement.error().hint);
    }
    return true;
  }

  bool read_static_properties(const documents::JsonNode& table, const Place& place,
                              ProviderInfo& provider) {
    std::vector<FeatureValues> features;
    if (!reader_.read_features(*table.find("static-properties"), {&place, "static-properties"},
                               false, features)) {
      return false;
    }
    std::vector<std::string> order;
    const Place order_place{&place, "feature-order"};
    if (const documents::JsonNode* node = table.find("feature-order")) {
      if (!reader_.read_list(*node, order_place, is_property_name, "feature name", false, order)) {
        return false;
      }
    } else if (features.size() >= 2) {
      return reader_.complain(place, "\"feature-order\" is missing",
                              "several static features need an order: a JSON object has none");
    } else {
      order.push_back(features.front().feature);
    }
    return apply_feature_order(order, order_place, features, provider);
  }

  bool apply_feature_order(const std::vector<std::string>& order, const Place& place,
                           std::vector<FeatureValues>& features, ProviderInfo& provider) {
    std::map<std::string_view, FeatureValues*> by_name;
    for (FeatureValues& entry : features) by_name.emplace(entry.feature, &entry);
    provider.static_properties.emplace();
    for (const std::string& feature : order) {
      const auto found = by_name.find(feature);
      if (found == by_name.end()) {
        return reader_.complain(place,
                                fmt::format("{} is not a static feature", text::quote(feature)));
      }
      provider.static_properties->push_back(*found->second);
      by_name.erase(found);
    }
    if (!by_name.empty()) {
      return reader_.complain(
          place, fmt::format("the feature {} is not in it", text::quote(by_name.begin()->first)));
    }
    return true;
  }

  DocumentReader& reader_;
  const SchemaVersion& version_;
};

/// 0.0.3: static lists stand in a table of their own, in the order of the feature priorities.
bool read_static_tables(DocumentReader& reader, const documents::JsonNode& root,
                        VariantMetadata& metadata) {
  const documents::JsonNode* node = root.find("static-properties");
  if (node == nullptr) return true;
  const Place top;
  const Place place{&top, "static-properties"};
  if (!reader.expect(*node, documents::JsonNode::Kind::object, place)) return false;
  for (const documents::JsonNode& table : node->items) {
    const std::string& ns = table.key;
    const Place at{&place, ns};
    const auto provider = metadata.providers.find(ns);
    if (provider == metadata.providers.end()) {
      return reader.complain(at, "no provider has this name");
    }
    if (provider->second.install_time) {
      return reader.complain(at, "static lists for a provider that runs at install time");
    }
    std::vector<FeatureValues> features;
    if (!reader.read_features(table, at, true, features)) return false;
    std::map<std::string_view, std::size_t> ranks;
    if (const auto listed = metadata.feature_priorities.find(ns);
        listed != metadata.feature_priorities.end()) {
      for (const std::string& feature : listed->second) ranks.emplace(feature, ranks.size());
    }
    std::vector<std::pair<std::size_t, std::size_t>> order;  // rank, place in the document
    for (std::size_t i = 0; i < features.size(); ++i) {
      const auto rank = ranks.find(features[i].feature);
      order.emplace_back(rank == ranks.end() ? ranks.size() : rank->second, i);
    }
    std::ranges::sort(order);
    auto& lists = provider->second.static_properties.emplace();
    for (const auto& [rank, i] : order) lists.push_back(std::move(features[i]));
  }
  return true;
}

}  // namespace

bool read_providers(DocumentReader& reader, const SchemaVersion& version,
                    const documents::JsonNode& root, VariantMetadata& metadata) {
  const bool required = version.is_draft() || version >= providers_schema;
  if (!required && root.find("providers") == nullptr) return true;  // PEP 825 alone has none
  const Place top;
  const documents::JsonNode* node =
      reader.require(root, "providers", documents::JsonNode::Kind::object, top);
  if (node == nullptr) return false;
  const Place place{&top, "providers"};
  const std::set<std::string_view> namespaces(metadata.namespaces.begin(),
                                              metadata.namespaces.end());
  ProviderReader providers(reader, version);
  for (const documents::JsonNode& table : node->items) {
    const std::string& ns = table.key;
    const Place at{&place, ns};
    if (!reader.check_namespace(ns, place)) return false;
    if (!namespaces.contains(ns)) {
      return reader.complain(at, "a namespace that default-priorities.namespace does not list");
    }
    if (!reader.expect(table, documents::JsonNode::Kind::object, at)) return false;
    ProviderInfo& provider = metadata.providers[ns];
    if (version.is_draft() ? !providers.read_draft(table, at, provider)
                           : !providers.read(table, at, provider)) {
      return false;
    }
  }
  for (const std::string& ns : metadata.namespaces) {
    if (metadata.providers.contains(ns)) continue;
    return reader.complain(place, fmt::format("no provider for the namespace {}", text::quote(ns)));
  }
  return !version.is_draft() || read_static_tables(reader, root, metadata);
}

}  // namespace axle::wheel
