#pragma once
// What the readers of variant metadata share: its rules for texts, keys and lists of features.
// Private to them. What is wrong is refused in the object's reading.

#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

#include "foundation/documents/json_object.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/variant/variant_schema.h"

namespace axle::wheel {

/// The size of the whole document is bounded, that of its parts is not.
inline constexpr documents::JsonBounds unbounded{
    .longest_text = std::numeric_limits<std::size_t>::max(),
    .most_items = std::numeric_limits<std::size_t>::max()};

inline constexpr documents::TextRule namespace_rule{is_property_name, "namespace"};
inline constexpr documents::TextRule feature_rule{is_property_name, "feature name"};
inline constexpr documents::TextRule value_rule{is_property_value, "property value"};

inline constexpr std::string_view unlisted_namespace =
    "a namespace that default-priorities.namespace does not list";

/// No other keys than `known`: they are refused, or noted in `ignoring` where there is one.
void check_keys(documents::JsonObject& object, std::initializer_list<std::string_view> known,
                Report* ignoring);

/// Refuses `object`, one of whose keys is `ns`.
void check_namespace(documents::JsonObject& object, std::string_view ns);

/// {feature: [value, …]} in the order of the document.
[[nodiscard]] std::vector<FeatureValues> read_features(documents::JsonObject& object,
                                                       bool may_be_empty);

}  // namespace axle::wheel
