#pragma once
// What a decision says of a family's build: why it is the one, what it leaves out, and what a
// machine would get in the place of a fallback.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "plan/decision.h"
#include "resolver/catalogue/release.h"
#include "resolver/catalogue/release_metadata.h"
#include "resolver/request/package_demand.h"
#include "resolver/request/provider_policy.h"
#include "resolver/request/target.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

/// The build that a machine with a GPU would most likely get in the place of a fallback.
struct OtherBuild {
  std::string label;
  std::uint64_t size = 0;                 ///< bytes
  std::optional<std::uint64_t> own_size;  ///< of the fallback; never more than `size`
};

/// Why the build `label`, which `decision` ranks, was chosen by `rule`: the fact about its code
/// says more than its place in the order.
[[nodiscard]] std::string why_this_build(std::string_view label, LabelRule rule,
                                         const plan::Decision& decision,
                                         const detect::Machine& machine,
                                         const providers::GpuPolicy& gpus);
/// Why a build was chosen that counts only where no other fits.
[[nodiscard]] std::string why_this_fallback(const detect::Machine& machine);

/// What `family` has to say of the plain wheel `filename`, which stands beside its builds.
[[nodiscard]] std::string plain_wheel_remark(const index::Family& family,
                                             std::string_view filename);
/// What is not right with the build `label` of `document` although it fits: GPUs that count, of the
/// vendor that the build is for, for which it has no code all the same, since one of several may be
/// enough (--gpu-policy any). Empty: nothing.
[[nodiscard]] std::string left_out_remark(const wheel::VariantMetadata& document,
                                          const std::string& label, const Target& target,
                                          const ProviderPolicy& policy);

/// The best build that is not a fallback, whether it fits or not, beside `chosen`, which is one;
/// nullopt where the index gives no sizes. `wheels`: those with a label whose tags fit.
[[nodiscard]] std::optional<OtherBuild> other_build(
    const CandidateWheel& chosen, const std::vector<const CandidateWheel*>& wheels,
    const ReleaseMetadata& metadata);

/// Of a chosen fallback, `title`: no release has another build for the GPU that is here, because of
/// `trouble`.
[[nodiscard]] Remark although_there_is_a_gpu(const std::string& title, const Error& trouble);
/// What a machine without a usable GPU saves by the fallback `title`.
[[nodiscard]] Remark saved_without_gpu(const std::string& title, const OtherBuild& other);

}  // namespace axle::resolver
