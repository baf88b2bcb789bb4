#pragma once
// Why a property is or is not supported, as JSON: docs/facts.md.

#include <nlohmann/json_fwd.hpp>

#include "foundation/report/fact.h"

namespace axle::cli {

/// [{code, subject, needed, seen, source}], null for missing parts.
[[nodiscard]] nlohmann::ordered_json facts_json(const Facts& facts);

}  // namespace axle::cli
