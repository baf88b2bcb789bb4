#pragma once
// The findings of `variant doctor`, as text and as JSON.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "doctor/finding.h"

namespace axle::cli {

/// The commands in fixes repeat the options of the run.
void complete_commands(doctor::Findings& findings, const session::RunOptions& run);

[[nodiscard]] std::string render_findings(const doctor::Findings& findings, const Output& output);
[[nodiscard]] nlohmann::ordered_json findings_json(const doctor::Findings& findings);

}  // namespace axle::cli
