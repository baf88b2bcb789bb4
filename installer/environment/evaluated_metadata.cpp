#include "installer/environment/evaluated_metadata.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "installer/file_access.h"
#include "wheel/variant/variant_markers.h"

namespace axle::installer {
namespace {

constexpr std::uint64_t values_limit = 1U << 20;

Result<MarkerValues> parse_marker_values(const std::string& text, const std::string& path) {
  const auto malformed = [&] {
    return fail(ErrorKind::malformed,
                fmt::format("{} does not have the values of the variant markers", path));
  };
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object()) return malformed();
  const auto label = document.find("variant_label");
  const auto properties = document.find("variant_properties");
  if (label == document.end() || !label->is_string()) return malformed();
  if (properties == document.end() || !properties->is_array()) return malformed();
  MarkerValues values{label->get<std::string>(), {}};
  for (const nlohmann::json& one : *properties) {
    if (!one.is_string()) return malformed();
    auto property = wheel::parse_property(one.get_ref<const std::string&>());
    if (!property) return malformed();
    values.supported.insert(std::move(*property));
  }
  return values;
}

}  // namespace

Result<std::string> evaluate_metadata_text(std::string_view text, const MarkerValues& values) {
  return wheel::evaluate_variant_metadata(
      text, wheel::variant_markers({}, values.label, values.supported));
}

std::string render_marker_values(const MarkerValues& values) {
  nlohmann::ordered_json document = {{"variant_label", values.label},
                                     {"variant_properties", nlohmann::ordered_json::array()}};
  for (const wheel::Property& property : values.supported)
    document["variant_properties"].push_back(wheel::render_property(property));
  return document.dump() + "\n";
}

Result<std::optional<std::string>> read_evaluated_metadata(const std::string& dist_info) {
  const std::string original = fmt::format("{}/{}", dist_info, original_metadata);
  const std::string beside = fmt::format("{}/{}", dist_info, marker_values_file);
  auto text = read_file(original, metadata_limit);
  auto values_text = read_file(beside, values_limit);
  const auto missing = [](const auto& read) {
    return !read && read.error().kind == ErrorKind::not_found;
  };
  if (missing(text) && missing(values_text)) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  if (!values_text) return std::unexpected(values_text.error());
  const auto values = parse_marker_values(*values_text, beside);
  if (!values) return std::unexpected(values.error());
  auto evaluated = evaluate_metadata_text(*text, *values);
  if (!evaluated) return std::unexpected(within(original, evaluated.error()));
  return std::move(*evaluated);
}

}  // namespace axle::installer
