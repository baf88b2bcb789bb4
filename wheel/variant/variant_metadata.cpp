#include "wheel/variant/variant_metadata.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "foundation/text/quote.h"
#include "wheel/variant/variant_schema.h"

namespace axle::wheel {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view spaces = " \t";
  const std::size_t start = text.find_first_not_of(spaces);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(spaces) - start + 1);
}

}  // namespace

Result<Property> parse_property(std::string_view text) {
  std::array<std::string_view, 3> parts;
  std::string_view rest = text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t separator = rest.find("::");
    const bool last = i + 1 == parts.size();
    if (last != (separator == std::string_view::npos)) {
      return fail(ErrorKind::malformed,
                  fmt::format("{} is not a valid variant property", text::quote(text)),
                  "write it as \"namespace :: feature :: value\"");
    }
    parts[i] = trim(rest.substr(0, separator));
    if (!last) rest.remove_prefix(separator + 2);
  }
  if (!is_property_name(parts[0]) || !is_property_name(parts[1]) || !is_property_value(parts[2])) {
    return fail(ErrorKind::malformed,
                fmt::format("{} is not a valid variant property", text::quote(text)),
                "namespace and feature consist of a-z, 0-9 and _, the value of these and \".\"");
  }
  return Property{std::string(parts[0]), std::string(parts[1]), std::string(parts[2])};
}

std::string render_property(const Property& property) {
  return fmt::format("{} :: {} :: {}", property.ns, property.feature, property.value);
}

bool is_null_variant(const VariantMetadata& metadata, std::string_view label) {
  if (label == null_label) return true;
  const auto version = parse_schema_version(metadata.schema_version);
  if (!version || !version->is_draft()) return false;
  const auto found = metadata.variants.find(label);
  return found != metadata.variants.end() && found->second.empty();
}

Result<VariantMetadata> only_variant(const VariantMetadata& metadata, std::string_view label) {
  const auto found = metadata.variants.find(label);
  if (found == metadata.variants.end()) {
    std::string known;
    for (const auto& [name, properties] : metadata.variants) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
    }
    return fail(ErrorKind::not_found,
                fmt::format("no variant has the label {}", text::quote(label)),
                known.empty() ? "the metadata lists no variant" : "labels: " + known);
  }
  VariantMetadata single = metadata;
  single.variants = {*found};
  return single;
}

}  // namespace axle::wheel
