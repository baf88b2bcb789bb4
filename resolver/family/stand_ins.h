#pragma once
// Of distributions that install the same modules (index/family/alternatives.h) one stands for the
// others: the one that the user names, else the one that is installed. With --alternatives, where
// neither is known, the one that fits the machine best.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "index/family/alternatives.h"
#include "resolver/family/families.h"
#include "resolver/request/options.h"
#include "resolver/request/target.h"
#include "wheel/requirement.h"

namespace axle::resolver {

/// The machine has one value of each feature that the member needs.
[[nodiscard]] bool suits_machine(const index::AlternativeMember& member,
                                 const detect::Machine& machine, const providers::GpuPolicy& gpus);

/// The member that is made for this machine and not for any; nullptr: none is.
[[nodiscard]] const index::AlternativeMember* best_alternative(const index::Alternatives& group,
                                                               const Target& target,
                                                               const Options& options);

class StandIns {
 public:
  StandIns(const Families& families, const Target& target, const Options& options);

  /// The user names the distribution.
  void name(const std::string& project);
  /// What the user's request becomes: itself, or with --alternatives the best member.
  [[nodiscard]] wheel::Requirement for_request(const wheel::Requirement& requirement) const;
  /// What is taken in the place of what `owner` requires; nullopt: that itself.
  [[nodiscard]] std::optional<wheel::Requirement> for_requirement(
      const std::string& owner, const wheel::Requirement& requirement) const;

 private:
  /// The member that stands for the others of the group; nullopt: none does.
  [[nodiscard]] std::optional<wheel::Requirement> member(const index::Alternatives& group) const;

  const Families& families_;
  const Target& target_;
  const Options& options_;
  /// By group; what the user names second is in the way of the first.
  std::map<const index::Alternatives*, std::vector<std::string>> named_;
};

}  // namespace axle::resolver
