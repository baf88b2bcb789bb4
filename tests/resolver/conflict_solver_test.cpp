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

/// By package and candidate, both as the solver numbers them; candidate 0 stays empty.
using Table = std::vector<std::vector<std::vector<Need>>>;

class TableProblem final : public resolver::Problem {
 public:
  explicit TableProblem(Table table) : table_(std::move(table)) {}

  Result<std::optional<Candidate>> choose(PackageId package,
                                          const resolver::Assignments& so_far) override {
    const auto last =
        so_far.possible(package).last_below(static_cast<Candidate>(table_[package].size()));
    return last && *last != resolver::not_chosen ? last : std::nullopt;
  }
  Result<std::variant<resolver::Needs, resolver::Exclusion>> needs_of(
      PackageId package, Candidate candidate) override {
    return resolver::Needs{IntegerSet::one(candidate), table_[package][candidate]};
  }
  [[nodiscard]] const Table& table() const { return table_; }

 private:
  Table table_;
};

bool is_solution(const Table& table, const std::vector<Candidate>& chosen) {
  for (std::size_t package = 0; package < table.size(); ++package) {
    if (chosen[package] == resolver::not_chosen) continue;
    for (const Need& need : table[package][chosen[package]]) {
      const Candidate other = chosen[need.package];
      if (other == resolver::not_chosen || !need.values.contains(other)) return false;
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
      const Candidate count = package == 0 ? dice.from_to(1, 3) : dice.from_to(0, density);
      for (Candidate i = 0; i < count; ++i) {
        const PackageId other = dice.from_to(1, table.size() - 1);
        const Candidate bound = dice.from_to(1, table[other].size() - 1);
        const Candidate kind = dice.from_to(0, 9);
        const IntegerSet values = kind < 1
                                      ? IntegerSet::one(bound).complement() & IntegerSet::from(1)
                                  : kind < 4 ? IntegerSet::one(bound)
                                  : kind < 7 ? IntegerSet::from(bound)
                                             : IntegerSet::from_to(1, bound + 1);
        table[package][candidate].push_back({other, values, 0});
      }
    }
  }
  return table;
}

resolver::Solution solve(TableProblem& problem) {
  auto solution = resolver::solve(problem, 0);
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
  table[1][2].push_back({2, IntegerSet::one(1), 0});
  for (PackageId package = 0; package < length; ++package)
    table[package][1].push_back({package + 1, IntegerSet::one(1), 0});
  table[0][1].front().values = IntegerSet::from_to(1, 3);
  TableProblem whole(table);
  CHECK(is_solution(table, solve(whole).chosen));
  table[length][1].push_back({1, IntegerSet::one(1), 0});
  TableProblem second(table);
  CHECK(solve(second).chosen[1] == 1);
  table[0][1].front().values = IntegerSet::one(2);
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
