#include "session/supported_lists.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "session/input_file.h"

namespace axle::session {

namespace {

using nlohmann::ordered_json;

Result<providers::Feature> parse_feature(const std::string& name, const ordered_json& values,
                                         const std::string& where) {
  if (!values.is_array()) return fail(ErrorKind::malformed, where + ": expected a list of values");
  providers::Feature feature{name, true, {}};
  for (const ordered_json& value : values) {
    if (!value.is_string()) return fail(ErrorKind::malformed, where + ": a value is not a string");
    feature.values.push_back(value.get<std::string>());
  }
  return feature;
}

}  // namespace

Result<resolver::SupportedProperties> parse_supported_lists(std::string_view json,
                                                            std::string_view where) {
  const ordered_json document = ordered_json::parse(json, nullptr, false);
  if (document.is_discarded())
    return fail(ErrorKind::malformed, fmt::format("{}: not JSON", where));
  const bool wrapped = document.is_object() && document.contains("properties") &&
                       document.contains("schema_version");
  const ordered_json& lists = wrapped ? document["properties"] : document;
  if (!lists.is_object()) {
    return fail(ErrorKind::malformed, fmt::format("{}: expected an object of namespaces", where),
                "{\"x86_64\": {\"level\": [\"v3\", \"v2\", \"v1\"]}}");
  }
  resolver::SupportedProperties supported;
  for (const auto& [ns, features] : lists.items()) {
    if (!features.is_object()) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: {}: expected an object of features", where, ns));
    }
    providers::Features& into = supported[ns];
    for (const auto& [name, values] : features.items()) {
      auto feature = parse_feature(name, values, fmt::format("{}: {}.{}", where, ns, name));
      if (!feature) return std::unexpected(feature.error());
      into.push_back(std::move(*feature));
    }
  }
  return supported;
}

Result<resolver::SupportedProperties> read_supported_lists(const std::string& path) {
  const auto text = read_input(path);
  if (!text) return std::unexpected(text.error());
  return parse_supported_lists(*text, path);
}

}  // namespace axle::session
