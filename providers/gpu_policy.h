#pragma once
// Which of several GPUs count, and how what each of them runs becomes one list.

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
  /// the bus and counts every GPU of the vendor ("0", as nvidia-smi has them), the same with the
  /// vendor ("amd:0"), a PCI address ("0000:65:00.0", "65:00.0", nvidia-smi's "00000000:65:00.0"),
  /// or a part of the GPU's name ("h100"; letters and digits alone count).
  std::vector<std::string> devices = {};
  /// What the user set it with, for sentences: before its text. Outlives the policy.
  std::string_view set_by = "--gpu-policy ";
  friend bool operator==(const GpuPolicy& left, const GpuPolicy& right) {
    return left.rule == right.rule && left.devices == right.devices;
  }
};

/// "all", "any", "first", "device=0,65:00.0"; nullopt for anything else.
[[nodiscard]] std::optional<GpuPolicy> parse_gpu_policy(std::string_view text);
/// As parse_gpu_policy reads it.
[[nodiscard]] std::string render_gpu_policy(const GpuPolicy& policy);

/// Those of `policy.devices` that name no GPU of `machine`.
[[nodiscard]] std::vector<std::string> unknown_devices(const detect::Machine& machine,
                                                       const GpuPolicy& policy);

/// Those of `policy.devices` that name only GPUs that do not work or that a mask hides, each with
/// the reason: "0", "NVIDIA H100 present but hidden from programs by a device mask".
[[nodiscard]] std::vector<std::pair<std::string, Fact>> idle_devices(const detect::Machine& machine,
                                                                     const GpuPolicy& policy);

/// GPUs of `vendor` that work, that no mask hides and that `policy` counts: cards before
/// integrated units, newer before older, then by their place on the bus. An integrated unit beside
/// a card of its vendor counts only where `any` or its name asks for it: it is there for the
/// screen, and its code must not decide over that of the card. Pointers into `machine`.
[[nodiscard]] std::vector<const detect::Gpu*> counted_gpus(const detect::Machine& machine,
                                                           detect::GpuVendor vendor,
                                                           const GpuPolicy& policy);

/// `lists` holds what each counted GPU runs, best first. With `any` what is in one of them, else
/// what is in all, in the order of the lists.
[[nodiscard]] std::vector<std::string> join_lists(
    const GpuPolicy& policy, const std::vector<std::vector<std::string>>& lists);

/// The machine as each of its unlike GPUs sees it, where `policy` wants what runs on all of them
/// and there are several: copies that hold one counted GPU a vendor, each counted architecture in
/// at least one of them, the newest in the first. Empty where one list says it all. A build that
/// has code for each GPU, but none for all of them, fits every copy and yet not the joined lists.
[[nodiscard]] std::vector<detect::Machine> device_views(const detect::Machine& machine,
                                                        const GpuPolicy& policy);

/// Whether another policy could give other properties: a vendor has working GPUs of several
/// architectures, or `policy` leaves one out.
[[nodiscard]] bool policy_matters(const detect::Machine& machine, const GpuPolicy& policy);

}  // namespace axle::providers
