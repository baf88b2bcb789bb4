#pragma once
// What the CPU namespaces share: from a property to the row of the capability table that stands for
// it, and the sentence that tells a person what the CPU says about that row.

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
/// withholds it", "it is not known whether the CPU has avx2": of all of `needed`, the worst news.
/// Where detection left its evidence (Cpu::sources), the sentence says it and what would fix it.
[[nodiscard]] std::string describe_capabilities(const detect::Cpu& cpu,
                                                std::span<const detect::Capability> needed);

/// One sentence a reason for what the CPU has and programs cannot count on, blocked or not known.
/// What a kernel is too old to tell of is left out: there is always some of it.
[[nodiscard]] std::vector<std::string> describe_withheld(const detect::Cpu& cpu);

/// The sentence for a flag of a CPU namespace that is written for `arch`.
[[nodiscard]] std::string describe_flag(const detect::Cpu& cpu, detect::Arch arch,
                                        std::string_view ns, std::string_view feature,
                                        std::string_view value);

/// "the CPU is aarch64, not x86_64"; empty when it is `wanted`.
[[nodiscard]] std::string describe_other_arch(const detect::Cpu& cpu, detect::Arch wanted);

/// "the provider of ns knows no property …": for what the namespace has never heard of.
[[nodiscard]] std::string describe_unheard(std::string_view ns, std::string_view feature,
                                           std::string_view value);

}  // namespace axle::providers
