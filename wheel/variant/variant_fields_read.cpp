#include "wheel/variant/variant_fields_read.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "foundation/text/quote.h"

namespace axle::wheel {

void check_keys(documents::JsonObject& object, std::initializer_list<std::string_view> known,
                Report* ignoring) {
  object.keys([&](const std::string& key) {
    if (std::ranges::find(known, key) != known.end()) return;
    // Asked for, so that finish() says nothing of it.
    (void)object.find(key);
    if (ignoring != nullptr) {
      ignoring->note(fmt::format("{}: {}: the unknown key is ignored", object.reading().where(),
                                 object.path_of(key)));
    } else {
      object.refuse_object(fmt::format("unknown key {}", text::quote(key)),
                           fmt::format("known keys: {}", fmt::join(known, ", ")));
    }
  });
}

void check_namespace(documents::JsonObject& object, std::string_view ns) {
  if (is_property_name(ns)) return;
  object.refuse_object(fmt::format("{} is not a valid namespace", text::quote(ns)));
}

std::vector<FeatureValues> read_features(documents::JsonObject& object, bool may_be_empty) {
  std::vector<FeatureValues> features;
  if (object.size() == 0 && !may_be_empty) object.refuse_object("it has no feature");
  object.keys([&](const std::string& feature) {
    if (!is_property_name(feature)) {
      return object.refuse_object(
          fmt::format("{} is not a valid feature name", text::quote(feature)));
    }
    features.push_back(
        {feature, object.list(feature, {.item = value_rule, .may_be_empty = may_be_empty})});
  });
  return features;
}

}  // namespace axle::wheel
