#pragma once
// The codes of what an audit finds (docs/audit.md).

#include <span>

#include "doctor/finding.h"

namespace axle::doctor {

/// In the order in which findings are shown within one level.
[[nodiscard]] std::span<const FindingCode> audit_codes();

}  // namespace axle::doctor
