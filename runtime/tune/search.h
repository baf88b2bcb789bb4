#pragma once
// Which of several ways to do the same is the fastest, told from times that are disturbed now and
// then. Times come from the caller, so that tests bring a clock of their own.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace axle::runtime {

/// Candidate 0 is the default. Two parts: in the first, all candidates are measured in rounds, each
/// round in another order, and those that fall behind drop out; in the second the best one left is
/// measured in turn with the default, and what was measured before does not count: the best of many
/// looks better than it is. The default stays unless the other is at least 3 % faster, by the
/// median of the pairs' ratios, and faster in three of four pairs; pairs in which something
/// disturbed a measurement do not count there, and where there are too many of them it stays, too.
class Search {
 public:
  static constexpr double least_gain = 1.03;
  /// Slower than the best one by so much, by their best times of at least two rounds: out.
  static constexpr double pruned_at = 1.25;
  /// The same after the first round.
  static constexpr double hopeless_at = 2;
  static constexpr std::size_t exploring_rounds = 5;
  static constexpr std::size_t pairs = 9;
  /// So many disturbed pairs: the machine is too busy to decide.
  static constexpr std::size_t most_disturbed_pairs = 9;
  /// A disturbed measurement is repeated so often.
  static constexpr int most_repeats = 2;

  /// `seed`: of the orders.
  Search(std::size_t candidates, std::uint64_t seed);

  /// What to measure now; none: it is decided.
  [[nodiscard]] std::optional<std::size_t> next() const;
  /// The time of `next()`, in seconds; `quiet`: nothing disturbed it.
  void record(double seconds, bool quiet);

  /// Once decided.
  [[nodiscard]] std::size_t winner() const { return winner_; }
  /// How many times as fast as the default the winner is; 1 for the default itself.
  [[nodiscard]] double gain() const { return gain_; }
  /// The shortest time of a candidate; 0: it was not measured.
  [[nodiscard]] double best(std::size_t candidate) const { return best_[candidate]; }
  /// Measurements that something disturbed.
  [[nodiscard]] std::size_t disturbed() const { return disturbed_; }
  /// Too many were: the default stays although another candidate looked faster.
  [[nodiscard]] bool undecided() const { return undecided_; }

 private:
  void begin_round();
  void end_exploring_round();
  void end_pair();
  void prune();
  void choose_contender();

  std::vector<std::size_t> alive_;  ///< in the order of the round; the default is always there
  std::vector<double> best_;
  std::vector<std::vector<double>> ratios_;  ///< default / candidate, of each round
  std::vector<double> times_;                ///< of the round that runs
  std::size_t at_ = 0;                       ///< in alive_
  std::size_t rounds_ = 0;                   ///< of the first part
  bool deciding_ = false;
  bool decided_ = false;
  bool undecided_ = false;
  bool pair_counts_ = true;
  int repeats_ = 0;
  std::size_t disturbed_pairs_ = 0;
  std::size_t disturbed_ = 0;
  std::size_t winner_ = 0;
  double gain_ = 1;
  std::uint64_t state_;
};

/// The one in the middle, of two the mean; of at least one.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace axle::runtime
