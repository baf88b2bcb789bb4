#pragma once
// What would make a feature usable. Each change is tried: the same judge is asked about the changed
// machine, or about the other release, and only what comes out as usable is said.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/features/feature_answer.h"
#include "doctor/features/feature_judge.h"
#include "doctor/judged_machine.h"
#include "index/family/family.h"
#include "wheel/marker.h"

namespace axle::doctor {

class FeatureAdvice {
 public:
  /// All references must stay valid. `own`: a release of `family`.
  FeatureAdvice(const index::Family& family, const index::FamilyRelease& own,
                const JudgedMachine& judged, const wheel::MarkerEnvironment& markers);

  /// Completes a "no": FeatureAnswer::change, and in its reason what the release that brought the
  /// feature would lack on this machine. `entries`: those of the feature's name.
  void add_to(JudgedFeature& judged, std::span<const index::FamilyFeature> entries);
  /// Completes an "unknown" that another release would decide; nothing where none is known to.
  void add_release_to(FeatureAnswer& answer, std::span<const index::FamilyFeature> entries);

 private:
  /// A machine that was asked about; the first is the own one.
  struct Asked {
    std::string changes;  ///< that lead to it from the own one
    detect::Machine machine;
    std::map<std::size_t, std::unique_ptr<FeatureJudge>> judges = {};  ///< by release
    std::unique_ptr<JudgedMachine> judged = nullptr;
  };
  struct Question {
    std::size_t release;
    Asked* machine;
    std::span<const index::FamilyFeature> entries;  ///< those of one name
  };
  /// Changes that go together.
  struct Advice {
    std::vector<std::pair<Change::Of, std::string>> parts;
    Usable usable = Usable::no;
    Asked* machine = nullptr;
    unsigned cost = 0;
    std::string release = {};  ///< "torch 2.10 or newer"; empty: the own one
  };
  /// JudgedFeature::changes, or JudgedFeature::others.
  enum class Whose : std::uint8_t { entry, others };

  [[nodiscard]] const FeatureJudge& judge_of(std::size_t release, Asked& machine);
  [[nodiscard]] JudgedFeature ask(const Question& question);
  [[nodiscard]] bool knows(const Question& question);
  [[nodiscard]] Asked* with(const Asked& from, ChangedMachine changed);
  [[nodiscard]] Advice try_ways(const Question& question, const Change& change);
  [[nodiscard]] Advice find_change(const Question& question, Whose whose, unsigned limit,
                                   unsigned most, const std::set<Change::Of>& done);
  [[nodiscard]] std::string find_release(std::span<const index::FamilyFeature> entries);
  [[nodiscard]] Advice find_with_release(std::span<const index::FamilyFeature> entries, Whose whose,
                                         unsigned limit);
  [[nodiscard]] std::string find_unknown_release(std::span<const index::FamilyFeature> entries);
  [[nodiscard]] std::string render_releases(const Question& question, Usable usable);
  [[nodiscard]] std::string title(std::size_t release) const;
  [[nodiscard]] std::string advise(std::span<const index::FamilyFeature> entries);

  const index::Family& family_;
  const JudgedMachine& judged_;
  const wheel::MarkerEnvironment& markers_;
  std::vector<const index::FamilyRelease*> releases_;  ///< newest first
  std::size_t own_ = 0;
  std::map<std::string, std::unique_ptr<Asked>, std::less<>> asked_;
  Asked* here_;
};

}  // namespace axle::doctor
