// The search over numbered candidates: against brute force, and at sizes where recursion or a
// quadratic step would show.
#include "resolver/solver/conflict_solver.h"

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using axle::Result;
namespace resolver = axle::resolver;
using resolver::Candidate;
using resolver::IntegerSet;
using resolver::Need;
using resolver::PackageId;

namespace {

/// When the search learns that a candidate cannot be taken.
enum class Out : unsigned char { never, at_once, when_asked };

struct Row {
  std::vector<Need> needs = {};
  Out out = Out::never;
};

/// By package and candidate, both as the solver numbers them; candidate 0 stays empty.
using Table = std::vector<std::vector<Row>>;

class TableProblem final : public resolver::Problem {
 public:
  explicit TableProblem(Table table) : table_(std::move(table)) {}

  std::vector<resolver::Exclusion> exclusions(PackageId package) override {
    std::vector<resolver::Exclusion> found;
    for (std::size_t candidate = 1; candidate < table_[package].size(); ++candidate) {
      if (table_[package][candidate].out == Out::at_once)
        found.push_back({IntegerSet::one(static_cast<Candidate>(candidate)), 0});
    }
    return found;
  }
  Result<std::optional<Candidate>> choose(PackageId package,
                                          const resolver::Assignments& so_far) override {
    const auto last =
        so_far.possible(package).last_below(static_cast<Candidate>(table_[package].size()));
    return last && *last != resolver::not_chosen ? last : std::nullopt;
  }
  Result<std::variant<resolver::Needs, resolver::Exclusion>> needs_of(
      PackageId package, Candidate candidate) override {
    const Row& row = table_[package][candidate];
    CHECK(row.out != Out::at_once);
    if (row.out == Out::when_asked) return resolver::Exclusion{IntegerSet::one(candidate), 0};
    return resolver::Needs{IntegerSet::one(candidate), row.needs};
  }
  [[nodiscard]] const Table& table() const { return table_; }

 private:
  Table table_;
};

bool is_solution(const Table& table, const std::vector<Candidate>& chosen) {
  for (std::size_t package = 0; package < table.size(); ++package) {
    if (chosen[package] == resolver::not_chosen) continue;
    const Row& row = table[package][chosen[package]];
    if (row.out != Out::never) return false;
    for (const Need& need : row.needs) {
      if (!need.values.contains(chosen[need.package])) return false;
    }
  }
  return chosen[0] == 1;
}

/// Every assignment, one after the other.
bool has_solution(const Table& table) {
  std::vector<Candidate> chosen(table.size(), 0);
  chosen[0] = 1;
  while (true) {
    if (is_solution(table, chosen)) return true;
    std::size_t package = 1;
    while (package < table.size() && ++chosen[package] == table[package].size())
      chosen[package++] = 0;
    if (package == table.size()) return false;
  }
}

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  Candidate from_to(std::size_t first, std::size_t last) {
    return static_cast<Candidate>(first + engine_() % (last - first + 1));
  }

 private:
  std::mt19937 engine_;
};

Table random_table(Dice& dice, std::size_t most_packages, std::size_t most_candidates) {
  Table table(dice.from_to(2, most_packages));
  for (std::size_t package = 0; package < table.size(); ++package)
    table[package].resize(1 + (package == 0 ? 1 : dice.from_to(1, most_candidates)));
  const Candidate density = dice.from_to(1, 4);
  for (std::size_t package = 0; package < table.size(); ++package) {
    for (std::size_t candidate = 1; candidate < table[package].size(); ++candidate) {
      const Candidate out = package == 0 ? 9 : dice.from_to(0, 9);
      table[package][candidate].out = out == 0   ? Out::at_once
                                      : out == 1 ? Out::when_asked
                                                 : Out::never;
      const Candidate count = package == 0 ? dice.from_to(1, 3) : dice.from_to(0, density);
      for (Candidate i = 0; i < count; ++i) {
        const PackageId other = dice.from_to(1, table.size() - 1);
        const Candidate bound = dice.from_to(1, table[other].size() - 1);
        const Candidate kind = dice.from_to(0, 9);
        IntegerSet values = kind < 1   ? IntegerSet::one(bound).complement() & IntegerSet::from(1)
                            : kind < 4 ? IntegerSet::one(bound)
                            : kind < 7 ? IntegerSet::from(bound)
                                       : IntegerSet::from_to(1, bound + 1);
        // Some needs say only which one it may be, if it is there at all.
        if (package != 0 && dice.from_to(0, 5) == 0)
          values = values | IntegerSet::one(resolver::not_chosen);
        table[package][candidate].needs.push_back({other, values, 0});
      }
    }
  }
  return table;
}

resolver::Solution solve(TableProblem& problem, resolver::SearchBounds bounds = {}) {
  auto solution = resolver::solve(problem, 0, bounds);
  REQUIRE(solution.has_value());
  solution->chosen.resize(problem.table().size(), resolver::not_chosen);
  return std::move(*solution);
}

}  // namespace

TEST_CASE("random problems: a solution is one, and there is none where none is found") {
  unsigned solved = 0;
  unsigned refused = 0;
  for (unsigned seed = 1; seed <= 4000; ++seed) {
    Dice dice(seed);
    TableProblem problem(random_table(dice, 6, 4));
    const resolver::Solution solution = solve(problem);
    if (solution.proof) {
      ++refused;
      REQUIRE_MESSAGE(!has_solution(problem.table()), seed);
    } else {
      ++solved;
      REQUIRE_MESSAGE(is_solution(problem.table(), solution.chosen), seed);
    }
  }
  CHECK(solved > 1000);
  CHECK(refused > 500);
}

TEST_CASE("larger random problems end, with few conflicts for their size") {
  std::size_t conflicts = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    TableProblem problem(random_table(dice, 40, 25));
    const resolver::Solution solution = solve(problem);
    conflicts += solution.conflicts;
    if (!solution.proof) REQUIRE_MESSAGE(is_solution(problem.table(), solution.chosen), seed);
  }
  CHECK(conflicts < 300 * 200);
}

TEST_CASE("a chain of 10,000 needs is followed, and its failure is derived") {
  constexpr std::size_t length = 10'000;
  Table table(length + 1, {{}, {}});
  table[1].resize(3);
  table[1][2].needs.push_back({2, IntegerSet::one(1), 0});
  for (PackageId package = 0; package < length; ++package)
    table[package][1].needs.push_back({package + 1, IntegerSet::one(1), 0});
  table[0][1].needs.front().values = IntegerSet::from_to(1, 3);
  TableProblem whole(table);
  CHECK(is_solution(table, solve(whole).chosen));
  table[length][1].needs.push_back({1, IntegerSet::one(1), 0});
  TableProblem second(table);
  CHECK(solve(second).chosen[1] == 1);
  table[0][1].needs.front().values = IntegerSet::one(2);
  TableProblem broken(table);
  CHECK(solve(broken).proof.has_value());
}

TEST_CASE("of 100,000 candidates that cannot be taken each is looked at once") {
  constexpr Candidate count = 100'000;
  class Many final : public resolver::Problem {
   public:
    Result<std::optional<Candidate>> choose(PackageId package,
                                            const resolver::Assignments& so_far) override {
      const auto last = so_far.possible(package).last_below(count + 1);
      return last && *last != resolver::not_chosen ? last : std::nullopt;
    }
    Result<std::variant<resolver::Needs, resolver::Exclusion>> needs_of(
        PackageId package, Candidate candidate) override {
      if (package == 0) return resolver::Needs{IntegerSet::one(1), {{1, IntegerSet::from(1), 0}}};
      ++asked;
      if (candidate == 1) return resolver::Needs{IntegerSet::one(1), {}};
      // Some cannot be taken, others need what is not there.
      if (candidate % 2 == 0) return resolver::Exclusion{IntegerSet::one(candidate), candidate};
      return resolver::Needs{IntegerSet::one(candidate), {{2, IntegerSet(), 0}}};
    }
    unsigned asked = 0;
  };
  Many problem;
  const auto solution = resolver::solve(problem, 0);
  REQUIRE(solution.has_value());
  CHECK_FALSE(solution->proof.has_value());
  CHECK(solution->chosen[1] == 1);
  CHECK(problem.asked == count);
}

TEST_CASE("a set of integers: intervals, complements, members") {
  const IntegerSet some = IntegerSet::from_to(2, 5) | IntegerSet::one(9);
  CHECK(some.contains(2));
  CHECK(some.contains(4));
  CHECK_FALSE(some.contains(5));
  CHECK(some.complement().complement() == some);
  CHECK((some & some.complement()).empty());
  CHECK((some | some.complement()).is_all());
  CHECK(some.last_below(9) == 4);
  CHECK(some.last_below(100) == 9);
  CHECK_FALSE(some.last_below(2).has_value());
  CHECK(IntegerSet::from(3).contains(IntegerSet::from_to(4, 7)));
  CHECK_FALSE(some.meets(IntegerSet::from_to(5, 9)));
  IntegerSet::Builder builder;
  builder.add(2, 4);
  builder.add(4, 5);
  builder.add(9, 10);
  CHECK(std::move(builder).build() == some);
}

TEST_CASE("the intervals of a set that another one meets") {
  const IntegerSet some = IntegerSet::from_to(2, 5) | IntegerSet::one(9) | IntegerSet::from(20);
  CHECK(some.pieces_that_meet(IntegerSet::one(3)) == IntegerSet::from_to(2, 5));
  CHECK(some.pieces_that_meet(IntegerSet::from_to(4, 10)) ==
        (IntegerSet::from_to(2, 5) | IntegerSet::one(9)));
  CHECK(some.pieces_that_meet(IntegerSet::one(30)) == IntegerSet::from(20));
  CHECK(some.pieces_that_meet(IntegerSet::from_to(5, 9)).empty());
  CHECK(some.pieces_that_meet(IntegerSet::all()) == some);
  CHECK(IntegerSet().pieces_that_meet(some).empty());
}

TEST_CASE("a search without an end is given up, and says over what") {
  // Pigeons and holes: as hard as it gets for a search that learns clauses.
  constexpr PackageId pigeons = 9;
  Table table(1 + pigeons, std::vector<Row>(pigeons));
  table[0].resize(2);
  for (PackageId pigeon = 1; pigeon <= pigeons; ++pigeon) {
    table[0][1].needs.push_back({pigeon, IntegerSet::from(1), 0});
    for (Candidate hole = 1; hole < pigeons; ++hole) {
      for (PackageId other = 1; other <= pigeons; ++other) {
        if (other != pigeon)
          table[pigeon][hole].needs.push_back({other, IntegerSet::one(hole).complement(), 0});
      }
    }
  }
  TableProblem problem(table);
  CHECK(solve(problem).proof.has_value());
  for (const resolver::SearchBounds& bounds :
       {resolver::SearchBounds{.questions = 50}, resolver::SearchBounds{.conflicts = 50},
        resolver::SearchBounds{.numbers = 20'000}}) {
    const resolver::Solution solution = solve(problem, bounds);
    REQUIRE(solution.gave_up_over.has_value());
    CHECK(solution.gave_up_over->size() == 3);
    CHECK_FALSE(solution.proof.has_value());
  }
}
