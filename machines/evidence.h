#pragma once
// Why a machine is taken to be what it is: the questions that detection asked and what was
// answered, as sentences for people. Made from what a RecordingHost noted, so that it tells what
// was done and not what should have been.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/record/recording.h"

namespace axle::machines {

struct Observation {
  std::string asked;                  ///< "read /sys/module/nvidia/version"
  std::optional<std::string> answer;  ///< "570.26"; nullopt: not there
};

/// What bears on the namespace, in the order in which it was asked. Runs of questions for one
/// library become one. A namespace that detection asks nothing for has no evidence.
[[nodiscard]] std::vector<Observation> find_evidence(std::string_view ns,
                                                     std::span<const detect::Question> questions);

}  // namespace axle::machines
