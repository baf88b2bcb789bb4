#pragma once
// Why something was decided, as data: providers say it of a machine, the resolver of the lists of a
// release. The sentence for people is made from the data, here and nowhere else; no decision reads
// that sentence.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axle {

/// One a row of fact_rows(), in its order.
enum class FactCode : std::uint8_t {
  // of the CPU
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
  // of devices
  device_works,
  device_unusable,
  device_unknown,
  no_gpu,
  gpu_not_counted,
  gpu_masked,
  no_npu,
  npu_not_looked_for,
  npu_kind,
  // of what they run
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
  // of no machine
  bundled_library,
  value_unknown,
  unknown_property,
  // of where a namespace's list comes from
  namespace_disabled,
  namespace_not_listed,
  not_in_list,
  not_in_plugin_list,
  plugin_untrusted,
  plugin_failed,
  no_provider,
  abi_version,
  abi_absent,
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
  std::string subject = {};              ///< what is spoken of: "driver 550.54", "NVIDIA GPU"
  std::vector<std::string> needed = {};  ///< what is asked for
  std::vector<std::string> seen = {};    ///< what there is; "" among others: an unknown one
  std::string source = {};  ///< who says so: "nvml", "xcr0", "--gpu-policy first"; may be empty
  friend bool operator==(const Fact&, const Fact&) = default;
};

/// What decides, then its circumstances. Empty: nobody has anything to say.
using Facts = std::vector<Fact>;

/// One code, for JSON, docs/facts.md and the sentence.
struct FactRow {
  FactCode code;
  std::string_view word;  ///< "cpu-lacks"
  /// The sentence, with the fields in braces; `{few}` is `needed` cut short, `{beside}` the place
  /// of the circumstances (else they stand at the end). What is in brackets is left out where a
  /// field in it is empty.
  std::string_view sentence;
  std::string_view several = {};  ///< the same of several `seen`, or of several `needed` alone
  bool circumstance = false;      ///< stands in parentheses behind what decides
};

[[nodiscard]] std::span<const FactRow> fact_rows();
/// "cpu-lacks"
[[nodiscard]] std::string_view render_code(FactCode code);

/// "the CPU lacks avx512f (level v4)": one line; empty for no facts.
[[nodiscard]] std::string render_facts(std::span<const Fact> facts);

[[nodiscard]] inline std::string render_fact(const Fact& fact) {
  return render_facts(std::span(&fact, 1));
}

/// What speaks of one thing as one: facts that differ in what is needed alone become one, each
/// circumstance is said once.
[[nodiscard]] Facts merge_facts(std::span<const Facts> each);

}  // namespace axle
