#pragma once
// Why detection came to its result: its queries and the answers, as sentences. Made from what a
// RecordingHost recorded, so it shows what was actually done.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/record/recording.h"

namespace axle::machines {

struct Observation {
  std::string asked;                  ///< "read /sys/module/nvidia/version"
  std::optional<std::string> answer;  ///< "570.26"; nullopt: it does not exist
};

/// What is relevant for the namespace, in the order of the queries. Consecutive queries for one
/// library are combined. A namespace without queries has no evidence.
[[nodiscard]] std::vector<Observation> find_evidence(std::string_view ns,
                                                     std::span<const detect::Question> questions);

}  // namespace axle::machines
