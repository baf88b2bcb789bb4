#pragma once
// Facts of a machine on the command line: "nvidia:sm=90,driver=570.26", "x86_64:v3,avx512_vnni".

#include <optional>
#include <string>
#include <string_view>

#include "detect/machine.h"
#include "foundation/report/error.h"

namespace axle::machines {

/// Adds one `namespace:fact,fact` part to `machine`. A GPU that is named is a GPU more; a part that
/// only has a driver changes the driver. Error: not_found, for a namespace, a fact or a value that
/// means nothing here; the nearest known ones are in the hint.
[[nodiscard]] Result<void> add_facts(detect::Machine& machine, std::string_view part);

/// How the architecture of a GPU is stated: "gfx942" is "amd:gfx=gfx942", "sm_90" is
/// "nvidia:sm=90"; nullopt for what is none.
[[nodiscard]] std::optional<std::string> architecture_fact(std::string_view word);

}  // namespace axle::machines
