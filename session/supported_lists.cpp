#include "session/supported_lists.h"

#include "foundation/documents/json_object.h"
#include "session/input_file.h"

namespace axle::session {

using documents::JsonObject;

Result<resolver::SupportedProperties> parse_supported_lists(std::string_view json,
                                                            std::string_view where) {
  const auto root = documents::parse_json_tree(json, where);
  if (!root) return std::unexpected(root.error());
  documents::JsonReading reading(where,
                                 "lists are written {\"x86_64\": {\"level\": [\"v3\", \"v2\"]}}");
  resolver::SupportedProperties supported;
  const auto read_namespaces = [&](JsonObject& namespaces) {
    namespaces.parts([&](const std::string& ns, JsonObject& features) {
      providers::Features& into = supported[ns];
      features.keys([&](const std::string& name) {
        auto values = features.list(
            name, {.item = documents::any_text, .may_be_empty = true, .may_repeat = true});
        into.push_back({name, true, std::move(values)});
      });
    });
  };
  JsonObject document(*root, reading);
  if (document.has("properties") && document.has("schema_version")) {
    document.part("properties", read_namespaces);  // the form of `properties --json`
  } else {
    read_namespaces(document);
  }
  if (reading.error()) return std::unexpected(*reading.error());
  return supported;
}

Result<resolver::SupportedProperties> read_supported_lists(const std::string& path) {
  const auto text = read_input(path);
  if (!text) return std::unexpected(text.error());
  return parse_supported_lists(*text, path);
}

}  // namespace axle::session
