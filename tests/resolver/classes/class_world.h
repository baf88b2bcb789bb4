#pragma once
// A world in which machines of every kind resolve: their targets, the answers of single machines,
// and grids of machines that say whether a predicate is the weakest.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "resolver/classes/class_solver.h"
#include "tests/resolver/family_world.h"
#include "tests/resolver/solver_world.h"

namespace axle::testing {

/// CPython 3.11 on a machine; nullopt on a system that is none of Linux, Windows and macOS.
[[nodiscard]] std::optional<resolver::Target> target_on(const detect::Machine& machine);

/// Values of facts: all machines that have one of each.
using Grid = std::map<std::string, std::vector<std::string>>;
[[nodiscard]] std::vector<resolver::FactValues> machines_of(const Grid& grid);

class ClassWorld : public World {
 public:
  /// Of these requirements. Another one is made after options or the index changed.
  [[nodiscard]] resolver::ClassSolver solver(
      const std::vector<std::string>& texts,
      std::size_t most_solves = resolver::most_solves_of_class);

  /// What a machine gets, solved by itself; "" for no solution.
  [[nodiscard]] std::string answer(const resolver::FactValues& facts);

  /// `holds` is that of the machine with `own`: every machine of the grid that meets it has the
  /// same answer; and for each atom, and each way of making it one step weaker, some machine of the
  /// grid has another answer.
  void check_weakest(const resolver::Predicate& holds, const resolver::FactValues& own,
                     const Grid& grid);

  resolver::Requests requests;

 private:
  std::map<resolver::FactValues, std::string> answers_;
};

/// Index variants of a release with labels, each with its properties, of providers that Axle has;
/// by label what it needs and how large its wheel is.
void publish_builds(World& world, const std::string& name, const std::string& version,
                    const std::map<std::string, std::vector<std::string>>& labels,
                    const std::string& tags = "cp311-cp311-manylinux_2_17_x86_64",
                    const std::map<std::string, std::vector<std::string>>& needs = {},
                    const std::map<std::string, std::uint64_t>& bytes = {});

}  // namespace axle::testing
