#pragma once
// `detect --why NS`: from the queries of the machine to the resulting properties.

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "foundation/report/fact.h"
#include "machines/evidence.h"
#include "machines/selection.h"
#include "providers/gpu_policy.h"
#include "providers/provider.h"
#include "session/command_failure.h"

namespace axle::cli {

/// The state of one device or of the processor.
struct PartState {
  std::string subject;  ///< "driver", "GPU 0000:65:00.0 NVIDIA H100", "CPU"
  std::string state;    ///< "present", "blocked", "absent", "unknown"; for a CPU its level
  std::string reason_code;
  std::string reason;
  std::string hint;
  Facts facts = {};  ///< for withheld instructions: the reason as data
};

struct Why {
  std::string ns;
  bool stated = false;  ///< nothing was queried: the facts were stated
  std::vector<machines::Observation> evidence;
  std::vector<PartState> parts;
  providers::Features properties;
};

/// Replays the machine's recording and records the queries. Error: misused, for a namespace without
/// a provider.
[[nodiscard]] session::Outcome<Why> explain_namespace(const std::string& ns,
                                                      const machines::NamedMachine& named,
                                                      const providers::GpuPolicy& gpus);

[[nodiscard]] std::string render_why(const Why& why, const Output& output);
/// Adds `namespace`, `why`, `verdict` and `properties`.
void add_why(nlohmann::ordered_json& body, const Why& why);

}  // namespace axle::cli
