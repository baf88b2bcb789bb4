#pragma once
// Shared by the CPU namespaces: maps a property to its row in the capability table, and describes
// what the CPU has of that row.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "providers/provider.h"

namespace axle::providers {

/// The row whose property is "`ns` :: `feature` :: `value`".
[[nodiscard]] std::optional<detect::Capability> find_row(std::string_view ns,
                                                         std::string_view feature,
                                                         std::string_view value);

/// A single-valued feature per flag in `flags` that `cpu` has, in that order, value "on".
[[nodiscard]] Features flags_present(const detect::Cpu& cpu, std::string_view ns,
                                     std::span<const std::string_view> flags);

/// The same without a machine: every flag.
[[nodiscard]] Features flags_known(std::span<const std::string_view> flags);

/// "the CPU has avx2 and fma", "the CPU lacks avx512f", "the CPU has amx_int8, but the kernel
/// withholds it", "it is unknown whether the CPU has avx2": the worst state among `needed`. If
/// detection recorded evidence (Cpu::sources), the code says what it means, and so how to fix it.
[[nodiscard]] Fact about_capabilities(const detect::Cpu& cpu,
                                      std::span<const detect::Capability> needed);

/// One fact per reason for features of the CPU that programs cannot rely on, blocked or unknown.
/// Features that a kernel is too old to report are omitted: there are always some.
[[nodiscard]] Facts withheld_capabilities(const detect::Cpu& cpu);

/// For a flag of a CPU namespace for `arch`.
[[nodiscard]] Fact about_flag(const detect::Cpu& cpu, detect::Arch arch, std::string_view ns,
                              std::string_view feature, std::string_view value);

/// "the CPU is aarch64, not x86_64": `wanted` is a different one.
[[nodiscard]] Fact other_architecture(const detect::Cpu& cpu, detect::Arch wanted);

/// "the CPU is Armv8.2a": at least `wanted`.
[[nodiscard]] Fact arm_version_held(std::string_view held, std::string_view wanted);

/// "(level v4)": what the capabilities are part of.
[[nodiscard]] Fact part_of(std::string_view kind, std::string_view value);

/// For a property that the namespace does not define.
[[nodiscard]] Fact unknown_property(std::string_view ns, std::string_view feature,
                                    std::string_view value);

}  // namespace axle::providers
