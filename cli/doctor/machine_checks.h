#pragma once
// What is wrong with a machine, from its facts alone: nothing is looked at here.

#include "cli/doctor/finding.h"
#include "detect/machine.h"
#include "index/family.h"

namespace axle::cli {

/// `torch`: the family whose newest builds the driver is compared with; nullptr: none.
void check_machine(const detect::Machine& machine, const index::Family* torch, Findings& findings);

}  // namespace axle::cli
