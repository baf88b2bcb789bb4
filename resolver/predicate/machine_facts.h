#pragma once
// What of a machine decides which builds it gets, as names and values. Every supported property is
// a function of these facts alone: machines whose facts are equal get the same answers.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detect/machine.h"
#include "providers/gpu_policy.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

/// Fact -> value; a fact without a value is not there, or unknown, which counts as not there
/// wherever a build is chosen.
///   system        "linux", "darwin", "windows"
///   arch          "x86_64", "aarch64", …
///   libc          "glibc 2.28", "musl 1.2"
///   macos         the version of macOS, "14.0"
///   kernel        os.kernel
///   x86_64        psABI level, "v3"
///   aarch64       version as the published provider counts, "8.2a"
///   cpu NAME      "has": a capability by its name in the table of capabilities, "cpu avx2"
///   sve_bytes, sme_bytes  vector lengths, "32"
///   driver        the CUDA version that the NVIDIA driver runs, "12.8"
///   sm            compute capabilities of the NVIDIA GPUs that count, newest first, "90",
///                 "120+75"; "unknown"
///   arm_platform  "sbsa", "tegra", "tegra+sbsa"
///   rocm          "6.4"
///   gfx           targets of the AMD GPUs that count, "gfx942"
///   device        IPs of the Intel GPUs that count, "20.1.4"
///   npu, npu_driver, cann  of Ascend NPUs
///   tpu           "true", "false"
///   property P    "has": a property that only a plugin can tell of, "property a :: b :: c"
using FactValues = std::map<std::string, std::string, std::less<>>;

/// Before the name of a capability, and before a property.
inline constexpr std::string_view cpu_fact = "cpu ";
inline constexpr std::string_view property_fact = "property ";

/// The value of `fact`; "": none.
[[nodiscard]] std::string_view value_of(const FactValues& facts, std::string_view fact);

/// GPUs that do not work, that a mask hides or that `policy` does not select do not count. Of a
/// policy that names devices the facts say nothing (GpuRule::named).
[[nodiscard]] FactValues facts_of(const detect::Machine& machine,
                                  const providers::GpuPolicy& policy);

/// A machine with these facts and no others. Facts that contradict each other ("x86_64" v3 without
/// "cpu avx2") do not come back from facts_of.
[[nodiscard]] detect::Machine machine_with(const FactValues& facts);

enum class FactKind : std::uint8_t {
  named,    ///< any set of values
  ordered,  ///< versions: more is newer
  flag,     ///< there or not
};

struct FactRow {
  std::string_view name;
  FactKind kind;
  std::string_view title;  ///< for sentences: "NVIDIA driver"
};

/// All facts that are no flags, in the order in which predicates name them.
[[nodiscard]] std::span<const FactRow> fact_rows();
/// A flag's own row has the name "cpu" or "property". nullptr: there is no such fact.
[[nodiscard]] const FactRow* find_fact_row(std::string_view fact);
/// The place of `fact` in that order; flags by their names.
[[nodiscard]] std::pair<std::size_t, std::string> fact_order(std::string_view fact);

/// The values that are known of a fact, ascending where it is ordered, without "none". Of libc both
/// families; of flags "has".
[[nodiscard]] const std::vector<std::string>& known_values(std::string_view fact);
/// Values that stand for all that nobody knows yet: a new GPU, one of unknown architecture.
[[nodiscard]] const std::vector<std::string>& unforeseen_values(std::string_view fact);

/// By their numbers: "2.9" before "2.28", "v3" before "v4", none before all.
[[nodiscard]] bool is_older(std::string_view left, std::string_view right);

/// The architecture that a fact is of alone: "x86_64" for "cpu avx2"; "": any.
[[nodiscard]] std::string_view architecture_of_fact(std::string_view fact);

/// The facts that decide whether a built-in provider supports `property`; empty: no machine does
/// not, or no such provider is known.
[[nodiscard]] std::vector<std::string> facts_behind(const wheel::Property& property);
/// Facts of which one limits the other, whatever properties are asked about: a level and the
/// capabilities that it consists of.
[[nodiscard]] bool are_entangled(std::string_view left, std::string_view right);

}  // namespace axle::resolver
