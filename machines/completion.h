#pragma once
// The defaults for facts that are not stated: operating system, architecture, libc, and the driver
// of a GPU that is stated to work. Everything else stays unknown.

#include <string_view>

#include "detect/machine.h"
#include "foundation/report/report.h"

namespace axle::machines {

/// Fills in the defaults and reports them for the machine `name`. A recorded machine states
/// everything and is not changed. The architecture is that of the CPU which a GPU of the machine
/// always comes with (GpuModel::host), else x86_64.
void complete_machine(detect::Machine& machine, std::string_view name, Report& report);

}  // namespace axle::machines
