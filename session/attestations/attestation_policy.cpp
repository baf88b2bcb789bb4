#include "session/attestations/attestation_policy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "foundation/text/nearest.h"
#include "session/variables.h"

namespace axle::session {

namespace {

struct Word {
  std::string_view name;
  Attestations mode;
};
constexpr std::array words = {Word{"off", Attestations::off}, Word{"warn", Attestations::warn},
                              Word{"require", Attestations::require}};

Outcome<Attestations> mode_of(const Stated& stated) {
  const auto* const found = std::ranges::find(words, stated.value, &Word::name);
  if (found != words.end()) return found->mode;
  std::vector<std::string> names;
  for (const Word& word : words) names.emplace_back(word.name);
  return misused(
      fmt::format("{}: `{}` is not a policy for attestations", stated.origin, stated.value),
      text::suggest(stated.value, names, "write require, warn or off"));
}

/// What the user says for this run.
std::optional<Stated> said(const Arguments& arguments, Opt option, const char* name) {
  if (arguments.has(option)) return Stated{arguments.value(option), option_name(option)};
  std::string value = variable(name);
  if (value.empty()) return std::nullopt;
  return Stated{std::move(value), name};
}

Outcome<void> take_mode(const Stated& stated, AttestationPolicy& policy) {
  const auto mode = mode_of(stated);
  if (!mode) return std::unexpected(mode.error());
  if (!policy.origin.empty() && *mode <= policy.mode) return {};
  policy.mode = *mode;
  policy.origin = stated.origin;
  return {};
}

}  // namespace

Outcome<AttestationPolicy> read_attestation_policy(const Arguments& arguments, Report& report) {
  auto configs = read_axle_configs();
  if (!configs) return std::unexpected(configs.error());
  AttestationPolicy policy;
  policy.publishers = std::move(configs->user.publishers);
  policy.publishers.merge(configs->project.publishers);
  // A project may ask for more than its user, not for less, nor for other authorities.
  const auto now = said(arguments, Opt::attestations, "AXLE_ATTESTATIONS");
  for (const auto& stated :
       now ? std::array{now, std::optional<Stated>()}
           : std::array{configs->user.attestations, configs->project.attestations}) {
    if (!stated) continue;
    if (auto taken = take_mode(*stated, policy); !taken) return std::unexpected(taken.error());
  }
  for (const auto& stated : {said(arguments, Opt::trusted_root, "AXLE_TRUSTED_ROOT"),
                             configs->user.trusted_root, configs->project.trusted_root}) {
    if (!stated || !policy.trusted_root.empty()) continue;
    policy.trusted_root = stated->value;
    policy.trusted_root_origin = stated->origin;
  }
  if (now && policy.mode == Attestations::off && !policy.publishers.empty()) {
    report.warn(fmt::format("the publishers that {} expects are not checked: {} is off",
                            policy.publishers.begin()->second.origin, now->origin));
    policy.publishers.clear();
  }
  if (policy.asks_for_nothing() || !policy.trusted_root.empty()) return policy;
  const std::string who =
      policy.mode == Attestations::off ? policy.publishers.begin()->second.origin : policy.origin;
  return misused(
      fmt::format("{}: attestations are to be checked, but nothing says whom to trust", who),
      "name the trusted_root.json of Sigstore with --trusted-root FILE, AXLE_TRUSTED_ROOT or "
      "trusted-root in axle/config.toml; or use --attestations off");
}

}  // namespace axle::session
