#pragma once
// A machine as text.

#include <string>

#include "cli/output.h"
#include "detect/machine.h"

namespace axle::cli {

[[nodiscard]] std::string render_machine(const detect::Machine& machine, const Output& output);

}  // namespace axle::cli
