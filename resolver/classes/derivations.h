#pragma once
// Answers for machines, each with what it was derived from. A machine that does not differ in that
// has the same answer, and is not solved again.

#include <cstddef>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "foundation/report/report.h"
#include "plan/resolution.h"
#include "resolver/catalogue/index_candidates.h"
#include "resolver/classes/fact_groups.h"
#include "resolver/classes/kept_sources.h"
#include "resolver/classes/plugin_assumptions.h"
#include "resolver/classes/watched_candidates.h"
#include "resolver/predicate/machine_facts.h"
#include "resolver/request/options.h"
#include "resolver/request/requests.h"
#include "resolver/request/target.h"
#include "resolver/solver/unresolved.h"

namespace axle::resolver {

/// Where wheels for a machine run: the same interpreter, with the tags and markers that it has on
/// such a machine. nullopt: there is none (no interpreter for that system). The machine outlives
/// the target.
using TargetMaker = std::function<std::optional<Target>(const detect::Machine&)>;

struct Derivation {
  FactValues point;  ///< a machine that it was derived for
  UsedInputs used;
  std::set<std::string, std::less<>> facts;  ///< that decide about `used`
  std::vector<FactGroup> groups;             ///< of `facts`
  std::vector<std::string> signatures;       ///< of `used` at `point`, by group
  std::string answer;                        ///< names and files; empty: there is none
  std::expected<plan::Resolution, Unresolved> result;
  /// For which patch releases of the target's Python it holds: ">=3.11.3"; empty: all.
  std::string python_releases;
  std::size_t shape = 0;  ///< the same as of others that were derived from the same inputs
};

class Derivations {
 public:
  /// All must outlive it.
  Derivations(const Requests& requests, const Options& options, const Sources& sources,
              TargetMaker make_target, Report& report);
  ~Derivations();

  /// Of the machine itself; what is to be said of it goes to the report. `facts`: facts_of it, to
  /// which those are added that plugins tell of. Error: unsupported, if its facts do not say all
  /// that was asked of it.
  [[nodiscard]] Result<Derivation*> derive(const detect::Machine& machine, FactValues& facts);
  /// `derived`, which holds for the machine with these facts, with decisions that speak of it and
  /// not of the machine that was solved first. What is to be said of it goes to the report.
  [[nodiscard]] const Derivation& told_of(Derivation& derived, const detect::Machine& machine,
                                          const FactValues& facts);
  /// The one that holds for a machine with these facts; nullptr: it was not solved yet.
  [[nodiscard]] Derivation* find(const FactValues& point);
  /// nullptr: there is no target for such a machine.
  [[nodiscard]] Derivation* solve(const FactValues& point);
  /// Whether `answer` is out of the question there, without a solve: one of its files cannot be
  /// used.
  [[nodiscard]] bool excludes(const FactValues& point, const Derivation& answer);

  [[nodiscard]] const std::deque<Derivation>& all() const { return all_; }
  [[nodiscard]] std::deque<Derivation>& each() { return all_; }
  [[nodiscard]] std::size_t solves() const { return solves_; }
  /// Which GPUs count.
  [[nodiscard]] const providers::GpuPolicy& gpus() const { return options_.providers.gpus; }
  /// What `derivation` would be derived from at `point`, as far as the facts of the group decide.
  [[nodiscard]] const std::string& signature(Derivation& derivation, std::size_t group,
                                             const FactValues& point);
  /// `facts` in sets between which no input of a derivation and no fact itself makes a link.
  [[nodiscard]] const std::vector<FactGroup>& group(
      const std::set<std::string, std::less<>>& facts);

 private:
  class SwitchedReport;
  struct Platform;
  /// What derivations from the same inputs have in common: hundreds of machines differ in what they
  /// say of a few inputs.
  struct Shape {
    Derivation* first = nullptr;
    /// By group: the values of its facts -> the signature there.
    std::vector<std::unordered_map<std::string, std::string>> known = {};
    std::unordered_map<std::string, Derivation*> by_signatures = {};
  };

  /// Whether somebody reads what is said of the solves that follow.
  void say_remarks(bool on);
  /// The target for the system, architecture and C library of `point`, and what was read for it.
  [[nodiscard]] Platform* platform_of(const FactValues& point);
  [[nodiscard]] Derivation* solve_on(const detect::Machine& machine, const FactValues& point);
  /// The machine itself: plugins tell of it, and what is said of it goes to the report.
  [[nodiscard]] Derivation* solve_here(const detect::Machine& machine, const FactValues& facts);
  [[nodiscard]] Derivation* add(FactValues point, const Target& target,
                                IndexCandidates& candidates);
  void find_groups(Derivation& derivation) const;
  /// Makes `derivation`, the last of all, one that is found.
  void note(Derivation& derivation);
  /// Removes the last of all.
  void forget_last();
  [[nodiscard]] std::string platform_signature(const Derivation& derivation,
                                               const FactValues& point);
  [[nodiscard]] std::string property_signature(const Derivation& derivation, const FactGroup& group,
                                               const FactValues& point);
  /// Of a machine that has the facts of `group` at `point`, and of its devices: at least what
  /// `namespaces` tell of them.
  [[nodiscard]] const std::vector<SupportedProperties>& lists_at(
      const FactValues& point, const FactGroup& group,
      const std::set<std::string, std::less<>>& namespaces);
  /// Other members of its family may have builds that follow it, and do not fit themselves.
  [[nodiscard]] bool leads_family(const plan::ResolvedPackage& package) const;
  [[nodiscard]] std::size_t tag_index(Platform& platform, const std::string& tags);

  const Requests& requests_;
  Options options_;
  KeptSources sources_;
  TargetMaker make_target_;
  std::unique_ptr<SwitchedReport> report_;
  std::optional<AssumingHost> plugins_;
  std::deque<Derivation> all_;
  std::vector<Shape> shapes_;
  /// By facts; of as many shapes as there are.
  std::map<std::set<std::string, std::less<>>, std::vector<FactGroup>> grouped_;
  std::map<std::string, std::unique_ptr<Platform>, std::less<>> platforms_;
  /// Views of one machine, and what the namespaces tell of each that somebody asked for.
  struct ListedMachine {
    std::vector<detect::Machine> views;
    std::vector<SupportedProperties> lists;
  };
  std::map<std::string, ListedMachine, std::less<>> lists_;
  std::map<std::string, std::vector<wheel::Tag>, std::less<>> parsed_tags_;
  std::size_t solves_ = 0;
  const detect::Machine* here_ = nullptr;  ///< the one that plugins tell of, while it is solved
  bool kernel_matters_ = false;            ///< some marker asks for its release
};

/// Names and files, each with its hash: what makes two answers one.
[[nodiscard]] std::string answer_of(const plan::Resolution& resolution);

}  // namespace axle::resolver
