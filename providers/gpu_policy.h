#pragma once
// Which of several GPUs count, and how their properties are combined into one list.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/fact.h"

namespace axle::providers {

enum class GpuRule : std::uint8_t {
  all,    ///< only what runs on every GPU that counts
  any,    ///< what runs on one of them
  first,  ///< the first of each vendor, in the order of the bus
  named,  ///< only the GPUs in `devices`, and what runs on every one of those
};

struct GpuPolicy {
  GpuRule rule = GpuRule::all;
  /// With `named`, each as the user wrote it: a number in the vendor's own order, which is that of
  /// the bus and counts every GPU of the vendor ("0", as in nvidia-smi), the same with the vendor
  /// ("amd:0"), a PCI address ("0000:65:00.0", "65:00.0", nvidia-smi's "00000000:65:00.0"), or a
  /// part of the GPU's name ("h100"; only letters and digits are compared).
  std::vector<std::string> devices = {};
  /// How the user set it, for messages: the text before the value. Outlives the policy.
  std::string_view set_by = "--gpu-policy ";
  friend bool operator==(const GpuPolicy& left, const GpuPolicy& right) {
    return left.rule == right.rule && left.devices == right.devices;
  }
};

/// "all", "any", "first", "device=0,65:00.0"; nullopt for anything else.
[[nodiscard]] std::optional<GpuPolicy> parse_gpu_policy(std::string_view text);
/// The form that parse_gpu_policy reads.
[[nodiscard]] std::string render_gpu_policy(const GpuPolicy& policy);

/// The entries of `policy.devices` that match no GPU of `machine`.
[[nodiscard]] std::vector<std::string> unknown_devices(const detect::Machine& machine,
                                                       const GpuPolicy& policy);

/// The entries of `policy.devices` that only match GPUs that do not work or that a mask hides, each
/// with the reason: "0", "NVIDIA H100 present but hidden from programs by a device mask".
[[nodiscard]] std::vector<std::pair<std::string, Fact>> idle_devices(const detect::Machine& machine,
                                                                     const GpuPolicy& policy);

/// GPUs of `vendor` that work, that no mask hides and that `policy` selects: cards before
/// integrated GPUs, newer before older, then by bus address. An integrated GPU next to a card of
/// its vendor only counts if `any` or its name selects it: it drives the screen, and must not
/// restrict the card's choice. Pointers into `machine`.
[[nodiscard]] std::vector<const detect::Gpu*> counted_gpus(const detect::Machine& machine,
                                                           detect::GpuVendor vendor,
                                                           const GpuPolicy& policy);

/// `lists` has what each counted GPU runs, best first. With `any`, everything in at least one of
/// them, otherwise what is in all of them, in the order of the lists.
[[nodiscard]] std::vector<std::string> join_lists(
    const GpuPolicy& policy, const std::vector<std::vector<std::string>>& lists);

/// The machine as each of its different GPUs sees it, if `policy` requires code that runs on all of
/// them and there are several: copies with one counted GPU per vendor, each counted architecture in
/// at least one of them, the newest in the first. Empty if one list is sufficient. A build that has
/// code for each GPU, but none that runs on all, fits every copy but not the combined lists.
[[nodiscard]] std::vector<detect::Machine> device_views(const detect::Machine& machine,
                                                        const GpuPolicy& policy);

/// Whether another policy could result in other properties: a vendor has working GPUs of several
/// architectures, or `policy` excludes one.
[[nodiscard]] bool policy_matters(const detect::Machine& machine, const GpuPolicy& policy);

}  // namespace axle::providers
