#pragma once
// The answer of `variant audit`, as text and as JSON.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "doctor/audit/audit.h"

namespace axle::cli {

[[nodiscard]] std::string render_audit(const doctor::Audit& audit, const Output& output);
[[nodiscard]] nlohmann::ordered_json audit_json(const doctor::Audit& audit);

}  // namespace axle::cli
