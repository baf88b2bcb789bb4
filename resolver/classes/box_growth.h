#pragma once
// Grows a box of machines around one of them, as long as all of them get its answer.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "resolver/classes/box.h"
#include "resolver/classes/derivations.h"

namespace axle::resolver {

class BoxGrowth {
 public:
  /// `own` holds for the machine with `facts`. Both must outlive it.
  BoxGrowth(Derivations& derivations, Derivation& own, const FactValues& facts,
            std::size_t most_solves);

  /// No value of one fact can be added without another answer, unless it is bounded.
  [[nodiscard]] const Box& grow();

  [[nodiscard]] const Values& known() const { return known_; }
  /// Some value was not tried: it would have taken too many solves.
  [[nodiscard]] bool bounded() const { return bounded_; }

 private:
  enum class Verdict : std::uint8_t { same, other, again };
  using Used = std::set<const Derivation*>;
  /// The values of the facts of one group.
  using Cell = std::vector<std::string>;
  struct Grid {
    std::vector<FactGroup> groups;
    std::vector<std::vector<Cell>> cells;  ///< by group
  };
  /// By group the places of cells: all machines with one of each.
  using Region = std::vector<std::vector<std::size_t>>;

  void begin();
  [[nodiscard]] bool grow_all();
  void widen(const std::string& fact);
  void widen_ordered(const std::string& fact);
  void widen_libc();
  void widen_named(const std::string& fact);
  /// Takes in the machines with these values of `fact` if all get the answer.
  [[nodiscard]] bool take_in(const std::string& fact, const Range& added);
  /// All machines of `box` get the answer. Facts that some of them turn out to depend on are added
  /// to `box`, with the value of the class's machine.
  [[nodiscard]] bool covers(Box& box, Used& used);
  [[nodiscard]] Verdict covers_once(Box& box, Used& used);
  [[nodiscard]] Verdict covers_platform(Box& box, const FactValues& platform, Used& used);
  /// Facts that are linked in `derivation` are in one group of `grid`, too.
  [[nodiscard]] bool fits(const Grid& grid, const Derivation& derivation) const;
  /// nullopt: they are too many.
  [[nodiscard]] std::optional<Grid> grid_of(const Box& box, const FactValues& platform);
  [[nodiscard]] std::optional<std::vector<Cell>> cells_of(const Box& box, const FactGroup& group,
                                                          const FactValues& platform);
  /// Some machine has these facts.
  [[nodiscard]] bool is_possible(const FactGroup& group, const Cell& cell,
                                 const FactValues& platform);
  /// Of `region` a machine, the class's own if possible.
  [[nodiscard]] std::vector<std::size_t> pick(const Grid& grid, const Region& region) const;
  /// With the class's own values of all other facts, where these do not contradict.
  [[nodiscard]] FactValues point_of(const Box& box, const Grid& grid,
                                    const std::vector<std::size_t>& picked,
                                    const FactValues& platform) const;
  /// nullptr: there is none with the answer.
  [[nodiscard]] Derivation* derivation_at(const FactValues& point);
  /// The parts of `region` that `derivation` does not hold for.
  void add_rest(const Grid& grid, const Region& region, Derivation& derivation,
                const FactValues& platform, std::vector<Region>& rest);
  void learn_values(const Box& box);
  /// Unlike GPUs that may be in one machine: a few for each way in which they may differ.
  /// nullopt: they are too many.
  [[nodiscard]] std::optional<std::vector<std::string>> mixtures(
      const std::string& fact, const std::vector<std::string>& singles);
  /// The values of single GPUs in a range.
  [[nodiscard]] std::vector<std::string> singles_in(const Range& range, const std::string& fact);
  /// Of everything that derivations told apart since, some is in `box`.
  [[nodiscard]] bool add_mixtures(Box& box);

  Derivations& derivations_;
  Derivation& own_;
  const FactValues& facts_;
  std::size_t most_solves_;
  Box box_;
  Used used_;
  Values known_;
  std::map<std::string, bool, std::less<>> possible_;
  bool bounded_ = false;
};

}  // namespace axle::resolver
