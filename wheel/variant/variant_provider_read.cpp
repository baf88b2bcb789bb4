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
#include "wheel/variant/variant_fields_read.h"

namespace axle::wheel {
namespace {

using documents::JsonObject;
using documents::TextRule;

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

bool is_plain_text(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
}

bool is_plugin_use(std::string_view text) {
  return text == "all" || text == "build" || text == "none";
}

constexpr TextRule plugin_api_rule{is_plugin_api, "\"module\" or \"module:object\""};
constexpr TextRule plugin_use_rule{is_plugin_use, "use of a plugin (all, build, none)"};
constexpr TextRule requirement_rule{is_plain_text, "requirement"};
constexpr TextRule provider_name_rule{is_plain_text, "provider name"};
constexpr TextRule marker_rule{is_plain_text, "marker"};

/// Reads one provider at a time.
class ProviderReader {
 public:
  ProviderReader(const SchemaVersion& version, Report& report)
      : newer_(version > newest_schema), report_(report) {}

  void read(JsonObject& table, ProviderInfo& provider) {
    check_keys(
        table,
        {"optional", "requires", "static-properties", "builtin", "plugin-api", "feature-order"},
        newer_ ? &report_ : nullptr);
    check_provider_kind(table);
    provider.optional = table.flag("optional");
    if (table.has("requires")) {
      read_requires(table, false, provider);
      provider.plugin_api = table.text("plugin-api", plugin_api_rule);
    } else if (table.has("static-properties")) {
      read_static_properties(table, provider);
    } else {
      provider.builtin = table.text("builtin", provider_name_rule);
    }
  }

  void read_draft(JsonObject& table, ProviderInfo& provider) {
    check_keys(table,
               {"optional", "requires", "plugin-api", "enable-if", "install-time", "plugin-use"},
               nullptr);
    provider.optional = table.flag("optional");
    if (table.has("install-time")) provider.install_time = table.flag("install-time");
    read_plugin_use(table, provider);
    provider.plugin_api = table.text("plugin-api", plugin_api_rule);
    read_enable_if(table, provider);
    if (provider.install_time) table.require("requires");
    read_requires(table, !provider.install_time, provider);
  }

 private:
  void check_provider_kind(JsonObject& table) {
    const bool plugin = table.has("requires");
    const bool fixed = table.has("static-properties");
    const int kinds = int{plugin} + int{fixed} + int{table.has("builtin")};
    if (kinds == 0 && newer_) {
      return report_.note(fmt::format("{}: {}: an unknown kind of provider",
                                      table.reading().where(), table.path()));
    }
    if (kinds != 1) {
      return table.refuse_object(fmt::format(
          "{} of \"requires\", \"static-properties\" and \"builtin\" instead of exactly one",
          kinds == 0 ? "none" : "more than one"));
    }
    if (!plugin && table.has("plugin-api")) {
      table.refuse("plugin-api", "is only valid with \"requires\"");
    }
    if (!fixed && table.has("feature-order")) {
      table.refuse("feature-order", "is only valid with \"static-properties\"");
    }
  }

  static void read_plugin_use(JsonObject& table, ProviderInfo& provider) {
    const std::string use = table.text("plugin-use", plugin_use_rule);
    if (use.empty()) return;
    if (table.has("install-time")) {
      return table.refuse_object("both \"plugin-use\" and \"install-time\"");
    }
    provider.install_time = use == "all";
  }

  static void read_enable_if(JsonObject& table, ProviderInfo& provider) {
    provider.enable_if = table.text("enable-if", marker_rule);
    if (provider.enable_if.empty()) return;
    if (const auto marker = parse_marker(provider.enable_if); !marker) {
      table.refuse("enable-if", marker.error().message, marker.error().hint);
    }
  }

  static void read_requires(JsonObject& table, bool may_be_empty, ProviderInfo& provider) {
    provider.requires_ =
        table.list("requires", {.item = requirement_rule, .may_be_empty = may_be_empty});
    for (std::size_t i = 0; i < provider.requires_.size(); ++i) {
      const auto requirement = parse_requirement(provider.requires_[i]);
      if (requirement) continue;
      return table.refuse_element("requires", i, requirement.error().message,
                                  requirement.error().hint);
    }
  }

  static void read_static_properties(JsonObject& table, ProviderInfo& provider) {
    std::vector<FeatureValues> features;
    table.part("static-properties",
               [&](JsonObject& lists) { features = read_features(lists, false); });
    std::vector<std::string> order = table.list("feature-order", {.item = feature_rule});
    if (!table.has("feature-order")) {
      if (features.size() >= 2) {
        return table.refuse_object("\"feature-order\" is missing",
                                   "several static features need an order: a JSON object has none");
      }
      for (const FeatureValues& entry : features) order.push_back(entry.feature);
    }
    apply_feature_order(table, order, features, provider);
  }

  static void apply_feature_order(JsonObject& table, const std::vector<std::string>& order,
                                  std::vector<FeatureValues>& features, ProviderInfo& provider) {
    std::map<std::string_view, FeatureValues*> by_name;
    for (FeatureValues& entry : features) by_name.emplace(entry.feature, &entry);
    provider.static_properties.emplace();
    for (const std::string& feature : order) {
      const auto found = by_name.find(feature);
      if (found == by_name.end()) {
        return table.refuse("feature-order",
                            fmt::format("{} is not a static feature", text::quote(feature)));
      }
      provider.static_properties->push_back(*found->second);
      by_name.erase(found);
    }
    if (!by_name.empty()) {
      table.refuse("feature-order",
                   fmt::format("the feature {} is not in it", text::quote(by_name.begin()->first)));
    }
  }

  bool newer_;  // than any version known here
  Report& report_;
};

/// The lists in the order of the feature priorities, those without one last, as they stand.
std::vector<FeatureValues> in_order(std::vector<FeatureValues> features,
                                    const std::vector<std::string>& priorities) {
  std::map<std::string_view, std::size_t> ranks;
  for (const std::string& feature : priorities) ranks.emplace(feature, ranks.size());
  std::vector<std::pair<std::size_t, std::size_t>> order;  // rank, place in the document
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto rank = ranks.find(features[i].feature);
    order.emplace_back(rank == ranks.end() ? ranks.size() : rank->second, i);
  }
  std::ranges::sort(order);
  std::vector<FeatureValues> lists;
  lists.reserve(features.size());
  for (const auto& [rank, i] : order) lists.push_back(std::move(features[i]));
  return lists;
}

/// 0.0.3: static lists stand in a table of their own.
void read_static_tables(JsonObject& document, VariantMetadata& metadata) {
  document.part("static-properties", [&](JsonObject& tables) {
    tables.parts([&](const std::string& ns, JsonObject& table) {
      const auto provider = metadata.providers.find(ns);
      if (provider == metadata.providers.end()) {
        return table.refuse_object("no provider has this name");
      }
      if (provider->second.install_time) {
        return table.refuse_object("static lists for a provider that runs at install time");
      }
      const auto listed = metadata.feature_priorities.find(ns);
      provider->second.static_properties =
          in_order(read_features(table, true), listed == metadata.feature_priorities.end()
                                                   ? std::vector<std::string>{}
                                                   : listed->second);
    });
  });
}

}  // namespace

void read_providers(JsonObject& document, const SchemaVersion& version, Report& report,
                    VariantMetadata& metadata) {
  const bool required = version.is_draft() || version >= providers_schema;
  if (!required && !document.has("providers")) return;  // PEP 825 alone has none
  document.require("providers");
  const std::set<std::string_view> namespaces(metadata.namespaces.begin(),
                                              metadata.namespaces.end());
  ProviderReader reader(version, report);
  document.part("providers", [&](JsonObject& providers) {
    providers.parts([&](const std::string& ns, JsonObject& table) {
      check_namespace(providers, ns);
      if (!namespaces.contains(ns)) return table.refuse_object(unlisted_namespace);
      ProviderInfo& provider = metadata.providers[ns];
      version.is_draft() ? reader.read_draft(table, provider) : reader.read(table, provider);
    });
    for (const std::string& ns : metadata.namespaces) {
      if (metadata.providers.contains(ns)) continue;
      providers.refuse_object(fmt::format("no provider for the namespace {}", text::quote(ns)));
    }
  });
  if (version.is_draft()) read_static_tables(document, metadata);
}

}  // namespace axle::wheel
