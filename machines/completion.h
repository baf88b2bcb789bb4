#pragma once
// What a machine is taken to be where nothing is stated: operating system, architecture, libc, and
// the driver of a GPU that is said to work. Everything else stays unknown.

#include <string_view>

#include "detect/machine.h"
#include "foundation/report/report.h"

namespace axle::machines {

/// Fills in the defaults and says in `report` which were taken for the machine `name`. A machine
/// that was recorded states all of it and stays as it is. The architecture is that of the CPU which
/// a GPU of the machine always comes with (GpuModel::host), else x86_64.
void complete_machine(detect::Machine& machine, std::string_view name, Report& report);

}  // namespace axle::machines
