#pragma once
// Why a property is or is not supported here, as data (foundation/report/fact.h).

#include <vector>

#include "detect/machine.h"
#include "foundation/report/fact.h"
#include "plan/decision.h"
#include "providers/gpu_policy.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

/// The facts from the bundled provider of the namespace about `property`; empty if there is no such
/// provider. `view`: the one of providers::device_views in question; nullptr: the whole machine.
[[nodiscard]] Facts machine_facts(const wheel::Property& property, const detect::Machine& machine,
                                  const providers::GpuPolicy& gpus,
                                  const detect::Machine* view = nullptr);

/// The same for a namespace whose list may come from elsewhere: then what `origins` says about it.
[[nodiscard]] Facts property_facts(const wheel::Property& property,
                                   const std::vector<plan::NamespaceOrigin>& origins,
                                   const detect::Machine& machine, const providers::GpuPolicy& gpus,
                                   const detect::Machine* view = nullptr);

/// A verdict that only says that the machine has no GPU of the build's vendor.
[[nodiscard]] bool is_absent_hardware(const plan::Verdict& verdict);
/// There are verdicts, and all are of that kind.
[[nodiscard]] bool only_absent_hardware(const plan::Decision& decision);

}  // namespace axle::resolver
