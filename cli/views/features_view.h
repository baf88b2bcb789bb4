#pragma once
// The features of a release, as text and as JSON: `doctor --for-package`, `explain`.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "doctor/features/feature_list.h"

namespace axle::cli {

[[nodiscard]] std::string render_features(const std::vector<doctor::FeatureAnswer>& answers,
                                          const std::string& title, const Output& output);
/// How many are usable, in one line; with --verbose all of them.
[[nodiscard]] std::string render_feature_counts(const std::vector<doctor::FeatureAnswer>& answers,
                                                const std::string& title, const Output& output);
[[nodiscard]] nlohmann::ordered_json features_json(
    const std::vector<doctor::FeatureAnswer>& answers);

}  // namespace axle::cli
