#pragma once
// Why something was decided, as data: from providers about a machine, from the resolver about the
// lists of a release. The sentence is made from the data, only here; no decision reads it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axle {

/// One per row of fact_rows(), in its order.
enum class FactCode : std::uint8_t {
  // about the CPU
  cpu_has,
  cpu_version,
  cpu_lacks,
  cpu_withheld,
  cpu_unknown,
  other_architecture,
  other_cores,
  not_allowed,
  registers_off,
  registers_not_saved,
  withheld_by_name,
  not_handed_out,
  handing_out_unknown,
  version_not_told,
  kernel_too_old,
  vector_length,
  // about devices
  device_works,
  device_unusable,
  device_unknown,
  no_gpu,
  gpu_not_counted,
  gpu_masked,
  no_npu,
  npu_not_looked_for,
  npu_kind,
  // about what they run
  gpu_capability,
  gpu_target,
  gpu_device_ip,
  cuda_lower_bound,
  cuda_upper_bound,
  cuda_too_old,
  cuda_ptx,
  cuda_compression,
  driver_version,
  system_version,
  system_version_bound,
  platform,
  // not about the machine
  bundled_library,
  value_unknown,
  unknown_property,
  // about the source of a namespace's list
  namespace_disabled,
  namespace_unknown,
  namespace_not_listed,
  not_in_list,
  not_in_plugin_list,
  plugin_untrusted,
  plugin_failed,
  no_provider,
  abi_version,
  abi_absent,
  package_installed,
  package_not_installed,
  // circumstances
  part_of,
  every_gpu,
  one_gpu,
  own_code_only,
  gpu_left_out,
  integrated_left_out,
};

struct Fact {
  FactCode code = FactCode::unknown_property;
  std::string subject = {};              ///< the subject: "driver 550.54", "NVIDIA GPU"
  std::vector<std::string> needed = {};  ///< what is required
  std::vector<std::string> seen = {};    ///< what there is; "" among others: an unknown one
  std::string source = {};  ///< the source: "nvml", "xcr0", "--gpu-policy first"; may be empty
  friend bool operator==(const Fact&, const Fact&) = default;
};

/// The deciding facts, then their circumstances. May be empty.
using Facts = std::vector<Fact>;

/// One code, for JSON, docs/facts.md and the sentence.
struct FactRow {
  FactCode code;
  std::string_view word;  ///< "cpu-lacks"
  /// The sentence, with the fields in braces; `{few}` is a shortened `needed`, `{beside}` the place
  /// of the circumstances (by default at the end). The part in brackets is omitted if a field in it
  /// is empty.
  std::string_view sentence;
  std::string_view several = {};  ///< for several `seen`, or several `needed` without any
  bool circumstance = false;      ///< in parentheses after the deciding fact
};

[[nodiscard]] std::span<const FactRow> fact_rows();
/// "cpu-lacks"
[[nodiscard]] std::string_view render_code(FactCode code);

/// "the CPU lacks avx512f (level v4)": one line; empty for no facts.
[[nodiscard]] std::string render_facts(std::span<const Fact> facts);

[[nodiscard]] inline std::string render_fact(const Fact& fact) {
  return render_facts(std::span(&fact, 1));
}

/// Combines facts about one subject: those that only differ in `needed` become one, duplicate
/// circumstances are dropped.
[[nodiscard]] Facts merge_facts(std::span<const Facts> each);

}  // namespace axle
