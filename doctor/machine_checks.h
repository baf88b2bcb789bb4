#pragma once
// Problems of a machine, determined from its facts only: nothing is probed here.

#include <string>
#include <string_view>

#include "doctor/finding.h"
#include "doctor/judged_machine.h"
#include "index/family/family.h"

namespace axle::doctor {

/// `torch`: the family whose newest builds the driver is compared with; nullptr: none.
void check_machine(const JudgedMachine& judged, const index::Family* torch, Findings& findings);

/// The command that makes a masked GPU visible. AMD's libraries read four variables: the GPU's
/// facts include the one that is set; otherwise all of its vendor are named.
[[nodiscard]] std::string unset_masks(const detect::Gpu& gpu);

/// How to get the NVIDIA driver `least` or a newer one on that machine: a fix. `least` may be
/// empty.
[[nodiscard]] std::string update_nvidia_driver(const detect::Machine& machine,
                                               std::string_view least);

}  // namespace axle::doctor
