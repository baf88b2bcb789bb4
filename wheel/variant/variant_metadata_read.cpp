#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "foundation/documents/json_object.h"
#include "foundation/text/quote.h"
#include "wheel/variant/variant_fields_read.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/variant/variant_provider_read.h"
#include "wheel/variant/variant_schema.h"
#include "wheel/wheel_name.h"

namespace axle::wheel {
namespace {

using documents::JsonObject;

/// Reads one document, part by part.
class MetadataReader {
 public:
  MetadataReader(std::string_view where, Report& report)
      : reading_(where, {}, unbounded), report_(report) {}

  Result<VariantMetadata> read(const documents::JsonNode& root) {
    JsonObject document(root, reading_);
    for (const auto part : {&MetadataReader::read_schema, &MetadataReader::check_document_keys,
                            &MetadataReader::read_priorities, &MetadataReader::read_sources,
                            &MetadataReader::read_variants}) {
      if (!reading_.error()) (this->*part)(document);
    }
    if (reading_.error()) return std::unexpected(*reading_.error());
    return std::move(metadata_);
  }

 private:
  void read_schema(JsonObject& document) {
    document.require("$schema");
    const std::string url = document.text("$schema", documents::any_text);
    if (reading_.error()) return;
    const auto version = schema_version_of(url);
    if (!version) {
      return document.refuse("$schema", fmt::format("no version in {}", text::quote(url)),
                             "the URL of a schema ends in a version such as \"v0.2.0.json\"");
    }
    version_ = *version;
    metadata_.schema_version = render_schema_version(version_);
    if (version_.major != newest_schema.major || version_ < oldest_schema) {
      return reading_.refuse(
          {ErrorKind::unsupported,
           fmt::format("{}: variant metadata of version {} is not supported, only 0.0.2 to {}",
                       reading_.where(), metadata_.schema_version,
                       render_schema_version(newest_schema)),
           "a newer version of this tool may support it"});
    }
    if (is_newer()) {
      report_.note(fmt::format("{}: variant metadata of version {} is read as version {}",
                               reading_.where(), metadata_.schema_version,
                               render_schema_version(newest_schema)));
    }
  }

  void check_document_keys(JsonObject& document) {
    if (version_.is_draft()) {
      check_keys(document,
                 {"$schema", "default-priorities", "providers", "static-properties", "variants"},
                 &report_);
    } else {
      check_keys(document, {"$schema", "default-priorities", "providers", "variants"}, ignoring());
    }
  }

  void read_priorities(JsonObject& document) {
    document.require("default-priorities");
    document.part("default-priorities", [&](JsonObject& priorities) {
      const bool draft = version_.is_draft();
      if (draft) {
        check_keys(priorities, {"namespace", "feature", "property"}, nullptr);
      } else {
        check_keys(priorities, {"namespace"}, ignoring());
      }
      priorities.require("namespace");
      metadata_.namespaces = priorities.list("namespace", {.item = namespace_rule});
      known_namespaces_ = {metadata_.namespaces.begin(), metadata_.namespaces.end()};
      if (!draft) return;
      priorities.part("feature", [&](JsonObject& features) {
        features.keys([&](const std::string& ns) {
          check_namespace(features, ns);
          metadata_.feature_priorities[ns] =
              features.list(ns, {.item = feature_rule, .may_be_empty = true});
        });
      });
      priorities.part("property", [&](JsonObject& properties) {
        properties.parts([&](const std::string& ns, JsonObject& features) {
          check_namespace(properties, ns);
          metadata_.property_priorities[ns] = read_features(features, true);
        });
      });
    });
  }

  void read_sources(JsonObject& document) {
    read_providers(document, version_, report_, metadata_);
  }

  void read_variants(JsonObject& document) {
    document.require("variants");
    document.part("variants", [&](JsonObject& variants) {
      variants.parts([&](const std::string& label, JsonObject& table) {
        if (!is_valid_label(label)) {
          return variants.refuse_object(
              fmt::format("{} is not a valid variant label", text::quote(label)));
        }
        VariantProperties properties = read_properties(table);
        if (label == null_label && !properties.empty()) {
          table.refuse_object("the null variant has properties");
        }
        if (label != null_label && properties.empty() && !version_.is_draft()) {
          table.refuse_object("no properties: only \"null\" may have none");
        }
        metadata_.variants.emplace(label, std::move(properties));
      });
    });
  }

  VariantProperties read_properties(JsonObject& table) {
    VariantProperties properties;
    table.parts([&](const std::string& ns, JsonObject& features) {
      check_namespace(table, ns);
      if (!known_namespaces_.contains(ns)) return features.refuse_object(unlisted_namespace);
      for (FeatureValues& entry : read_features(features, false)) {
        for (std::string& value : entry.values) {
          properties.insert({ns, entry.feature, std::move(value)});
        }
      }
    });
    return properties;
  }

  /// Newer than any version known here.
  [[nodiscard]] bool is_newer() const { return version_ > newest_schema; }
  /// Where unknown keys are passed over: the report that hears of them.
  [[nodiscard]] Report* ignoring() { return is_newer() ? &report_ : nullptr; }

  documents::JsonReading reading_;
  Report& report_;
  SchemaVersion version_;
  VariantMetadata metadata_;
  std::set<std::string, std::less<>> known_namespaces_;
};

}  // namespace

Result<VariantMetadata> parse_variant_metadata(std::string_view json, std::string_view where,
                                               Report& report) {
  const auto root = documents::parse_json_tree(json, where);
  if (!root) return std::unexpected(root.error());
  return MetadataReader(where, report).read(*root);
}

}  // namespace axle::wheel
