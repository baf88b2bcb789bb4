#pragma once
// The product's side: what Axle says of torch's builds on a machine, by its shipped family.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/report.h"
#include "index/family/family.h"
#include "index/family/family_book.h"
#include "index/family/family_variants.h"
#include "resolver/solver/solver.h"
#include "tests/torch/torch_rule.h"

namespace axle::testing {

inline constexpr std::string_view linux_platforms[] = {"linux_x86_64", "linux_aarch64"};

/// What `--for what` stands for; also with a driver that is older than the GPU.
[[nodiscard]] detect::Machine machine_for(const std::string& what);

[[nodiscard]] index::Family shipped_torch();

using Verdicts = std::map<std::string, Fitness, std::less<>>;

/// The variants that a family makes of builds of one release on one platform.
[[nodiscard]] index::FamilyVariants variants_of(const index::Family& family,
                                                const std::string& release,
                                                std::string_view platform,
                                                const std::set<std::string, std::less<>>& labels);

/// What the ranking says of each of `labels`, whose variants these are. A build that does not fit
/// is a misfit whatever else is not known of it.
[[nodiscard]] Verdicts verdicts_on(const index::FamilyVariants& variants,
                                   const std::set<std::string, std::less<>>& labels,
                                   const detect::Machine& machine);

/// Every build of the table that a release has on a platform.
[[nodiscard]] std::set<std::string, std::less<>> labels_of(const TableRelease& release,
                                                           std::string_view platform);

/// torch's index with every build of the table, each release as X.0 and X.1, and the real solver.
class TorchWorld {
 public:
  TorchWorld();
  TorchWorld(const TorchWorld&) = delete;
  TorchWorld& operator=(const TorchWorld&) = delete;
  ~TorchWorld();

  /// Fails the test when there is none. The patch version is not part of `release`.
  [[nodiscard]] RuleChoice choose(const detect::Machine& machine, std::string_view platform,
                                  std::string_view requirement = "torch");
  /// As `variant explain` has it.
  [[nodiscard]] resolver::Explanation explain(const detect::Machine& machine,
                                              std::string_view platform,
                                              std::string_view requirement);
  [[nodiscard]] bool remarked(std::string_view part) const;

  [[nodiscard]] const index::Family& family();

  resolver::Options options;
  CollectedReport report;  ///< of the last choice
  plan::Resolution last;

 private:
  class Pages;
  std::unique_ptr<Pages> pages_;
  CollectedReport book_report_;
  std::unique_ptr<index::FamilyBook> book_;
};

}  // namespace axle::testing
