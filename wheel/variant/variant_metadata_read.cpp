#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "foundation/documents/json_tree.h"
#include "foundation/text/quote.h"
#include "wheel/variant/document_reader.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/variant/variant_provider_read.h"
#include "wheel/variant/variant_schema.h"
#include "wheel/wheel_name.h"

namespace axle::wheel {
namespace {

/// Reads one document. Every step returns false after the first thing wrong.
class MetadataReader {
 public:
  MetadataReader(std::string_view where, Report& report)
      : reader_(where, report), report_(report) {}

  Result<VariantMetadata> read(const documents::JsonNode& root) {
    const Place top;
    const bool done =
        reader_.expect(root, documents::JsonNode::Kind::object, top) && read_schema(root, top) &&
        check_top_keys(root, top) && read_priorities(root, top) &&
        read_providers(reader_, version_, root, metadata_) && read_variants(root, top);
    if (!done) return std::unexpected(unsupported_ ? *unsupported_ : reader_.error());
    return std::move(metadata_);
  }

 private:
  bool read_schema(const documents::JsonNode& root, const Place& top) {
    const documents::JsonNode* schema =
        reader_.require(root, "$schema", documents::JsonNode::Kind::string, top);
    if (schema == nullptr) return false;
    const Place place{&top, "$schema"};
    const auto version = schema_version_of(schema->text);
    if (!version) {
      return reader_.complain(place, fmt::format("no version in {}", text::quote(schema->text)),
                              "the URL of a schema ends in a version such as \"v0.2.0.json\"");
    }
    version_ = *version;
    metadata_.schema_version = render_schema_version(version_);
    if (version_.major != newest_schema.major || version_ < oldest_schema) {
      unsupported_ = {
          ErrorKind::unsupported,
          fmt::format("{}: variant metadata of version {} is not supported, only 0.0.2 to {}",
                      reader_.where(), metadata_.schema_version,
                      render_schema_version(newest_schema)),
          "a newer version of this tool may support it"};
      return false;
    }
    if (version_ > newest_schema) {
      newer_ = true;
      report_.note(fmt::format("{}: variant metadata of version {} is read as version {}",
                               reader_.where(), metadata_.schema_version,
                               render_schema_version(newest_schema)));
    }
    return true;
  }

  bool check_top_keys(const documents::JsonNode& root, const Place& top) {
    if (version_.is_draft()) {
      return reader_.check_keys(
          root, {"$schema", "default-priorities", "providers", "static-properties", "variants"},
          true, top);
    }
    return reader_.check_keys(root, {"$schema", "default-priorities", "providers", "variants"},
                              newer_, top);
  }

  bool read_priorities(const documents::JsonNode& root, const Place& top) {
    const documents::JsonNode* node =
        reader_.require(root, "default-priorities", documents::JsonNode::Kind::object, top);
    if (node == nullptr) return false;
    const Place place{&top, "default-priorities"};
    const bool draft = version_.is_draft();
    if (draft ? !reader_.check_keys(*node, {"namespace", "feature", "property"}, false, place)
              : !reader_.check_keys(*node, {"namespace"}, newer_, place)) {
      return false;
    }
    const documents::JsonNode* namespaces =
        reader_.require(*node, "namespace", documents::JsonNode::Kind::array, place);
    if (namespaces == nullptr ||
        !reader_.read_list(*namespaces, {&place, "namespace"}, is_property_name, "namespace", false,
                           metadata_.namespaces)) {
      return false;
    }
    known_namespaces_ = {metadata_.namespaces.begin(), metadata_.namespaces.end()};
    return !draft ||
           (read_feature_priorities(*node, place) && read_property_priorities(*node, place));
  }

  bool read_feature_priorities(const documents::JsonNode& priorities, const Place& parent) {
    const documents::JsonNode* node = priorities.find("feature");
    if (node == nullptr) return true;
    const Place place{&parent, "feature"};
    if (!reader_.expect(*node, documents::JsonNode::Kind::object, place)) return false;
    for (const documents::JsonNode& features : node->items) {
      const std::string& ns = features.key;
      if (!reader_.check_namespace(ns, place) ||
          !reader_.read_list(features, {&place, ns}, is_property_name, "feature name", true,
                             metadata_.feature_priorities[ns])) {
        return false;
      }
    }
    return true;
  }

  bool read_property_priorities(const documents::JsonNode& priorities, const Place& parent) {
    const documents::JsonNode* node = priorities.find("property");
    if (node == nullptr) return true;
    const Place place{&parent, "property"};
    if (!reader_.expect(*node, documents::JsonNode::Kind::object, place)) return false;
    for (const documents::JsonNode& features : node->items) {
      const std::string& ns = features.key;
      if (!reader_.check_namespace(ns, place) ||
          !reader_.read_features(features, {&place, ns}, true, metadata_.property_priorities[ns])) {
        return false;
      }
    }
    return true;
  }

  bool read_variants(const documents::JsonNode& root, const Place& top) {
    const documents::JsonNode* node =
        reader_.require(root, "variants", documents::JsonNode::Kind::object, top);
    if (node == nullptr) return false;
    const Place place{&top, "variants"};
    for (const documents::JsonNode& table : node->items) {
      const std::string& label = table.key;
      if (!is_valid_label(label)) {
        return reader_.complain(place,
                                fmt::format("{} is not a valid variant label", text::quote(label)));
      }
      VariantProperties properties;
      if (!read_properties(table, {&place, label}, properties)) return false;
      if (label == null_label && !properties.empty()) {
        return reader_.complain({&place, label}, "the null variant has properties");
      }
      if (label != null_label && properties.empty() && !version_.is_draft()) {
        return reader_.complain({&place, label}, "no properties: only \"null\" may have none");
      }
      metadata_.variants.emplace(label, std::move(properties));
    }
    return true;
  }

  bool read_properties(const documents::JsonNode& table, const Place& place,
                       VariantProperties& properties) {
    if (!reader_.expect(table, documents::JsonNode::Kind::object, place)) return false;
    for (const documents::JsonNode& node : table.items) {
      const std::string& ns = node.key;
      if (!reader_.check_namespace(ns, place)) return false;
      const Place at{&place, ns};
      if (!known_namespaces_.contains(ns)) {
        return reader_.complain(at, "a namespace that default-priorities.namespace does not list");
      }
      std::vector<FeatureValues> features;
      if (!reader_.read_features(node, at, false, features)) return false;
      for (FeatureValues& entry : features) {
        for (std::string& value : entry.values) {
          properties.insert({ns, entry.feature, std::move(value)});
        }
      }
    }
    return true;
  }

  DocumentReader reader_;
  Report& report_;
  SchemaVersion version_;
  bool newer_ = false;  // than any version known here: unknown keys are skipped
  VariantMetadata metadata_;
  std::set<std::string, std::less<>> known_namespaces_;
  std::optional<Error> unsupported_;
};

}  // namespace

Result<VariantMetadata> parse_variant_metadata(std::string_view json, std::string_view where,
                                               Report& report) {
  const auto root = documents::parse_json_tree(json, where);
  if (!root) return std::unexpected(root.error());
  return MetadataReader(where, report).read(*root);
}

}  // namespace axle::wheel
