#pragma once
// Facts of a machine on the command line: "nvidia:sm=90,driver=570.26", "x86_64:v3,avx512_vnni",
// "windows", "macos:15".

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "detect/machine.h"
#include "foundation/report/error.h"

namespace axle::machines {

/// Adds one `namespace:fact,fact` part to `machine`. Each GPU adds one; a part with only a driver
/// changes the driver. Error: not_found, for an unknown namespace, fact or value; the nearest known
/// ones are in the hint.
[[nodiscard]] Result<void> add_facts(detect::Machine& machine, std::string_view part);

/// Facts that are whole without a colon: architectures and systems.
[[nodiscard]] std::span<const std::string_view> bare_facts();

/// The full form of an architecture: "gfx942" is "amd:gfx=gfx942", "sm_90" is "nvidia:sm=90";
/// nullopt if it is not an architecture.
[[nodiscard]] std::optional<std::string> architecture_fact(std::string_view word);

}  // namespace axle::machines
