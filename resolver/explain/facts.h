#pragma once
// Why a property is supported here or is not, as data (foundation/report/fact.h).

#include <vector>

#include "detect/machine.h"
#include "foundation/report/fact.h"
#include "plan/decision.h"
#include "providers/gpu_policy.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

/// What the provider that Axle carries for the namespace says of `property`; empty where it carries
/// none. `view`: the one of providers::device_views that is spoken of; nullptr: the whole machine.
[[nodiscard]] Facts machine_facts(const wheel::Property& property, const detect::Machine& machine,
                                  const providers::GpuPolicy& gpus,
                                  const detect::Machine* view = nullptr);

/// The same of a namespace whose list may come from elsewhere: then what `origins` says of it.
[[nodiscard]] Facts property_facts(const wheel::Property& property,
                                   const std::vector<plan::NamespaceOrigin>& origins,
                                   const detect::Machine& machine, const providers::GpuPolicy& gpus,
                                   const detect::Machine* view = nullptr);

/// A verdict that says no more than that there is no GPU of the build's vendor.
[[nodiscard]] bool is_absent_hardware(const plan::Verdict& verdict);
/// All verdicts, of which there are some, are of that kind.
[[nodiscard]] bool only_absent_hardware(const plan::Decision& decision);

}  // namespace axle::resolver
