#include "runtime/tune/search.h"

#include <algorithm>

namespace axle::runtime {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Search::Search(std::size_t candidates, std::uint64_t seed)
    : best_(candidates, 0.0),
      ratios_(candidates),
      times_(candidates, 0.0),
      decided_(candidates < 2),
      state_(seed * 2 + 1) {
  for (std::size_t i = 0; i < candidates; ++i) alive_.push_back(i);
  begin_round();
}

void Search::begin_round() {
  at_ = 0;
  repeats_ = 0;
  pair_counts_ = true;
  for (std::size_t i = alive_.size(); i > 1; --i) {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    std::swap(alive_[i - 1], alive_[(state_ >> 11U) % i]);
  }
}

std::optional<std::size_t> Search::next() const {
  if (decided_) return std::nullopt;
  return alive_[at_];
}

void Search::record(double seconds, bool quiet) {
  if (decided_) return;
  if (!quiet) {
    ++disturbed_;
    if (repeats_++ < most_repeats) return;
    pair_counts_ = false;
  }
  repeats_ = 0;
  const std::size_t candidate = alive_[at_];
  times_[candidate] = seconds;
  double& best = best_[candidate];
  if (best == 0 || seconds < best) best = seconds;
  if (++at_ < alive_.size()) return;
  if (deciding_) {
    end_pair();
  } else {
    end_exploring_round();
  }
  begin_round();
}

void Search::prune() {
  double best = best_[0];
  for (const std::size_t one : alive_) best = std::min(best, best_[one]);
  const double limit = best * (rounds_ < 2 ? hopeless_at : pruned_at);
  std::erase_if(alive_, [&](std::size_t one) { return one != 0 && best_[one] > limit; });
}

void Search::end_exploring_round() {
  ++rounds_;
  for (const std::size_t one : alive_) ratios_[one].push_back(times_[0] / times_[one]);
  prune();
  if (alive_.size() == 1) {
    decided_ = true;
  } else if (rounds_ == exploring_rounds) {
    choose_contender();
  }
}

void Search::choose_contender() {
  std::size_t contender = 0;
  double ratio = 1;
  for (const std::size_t one : alive_) {
    const double own = one == 0 ? 1 : median(ratios_[one]);
    if (own <= ratio) continue;
    contender = one;
    ratio = own;
  }
  if (contender == 0) {
    decided_ = true;
    return;
  }
  alive_ = {0, contender};
  ratios_[contender].clear();
  deciding_ = true;
}

void Search::end_pair() {
  const std::size_t contender = alive_[0] == 0 ? alive_[1] : alive_[0];
  std::vector<double>& ratios = ratios_[contender];
  if (pair_counts_) {
    ratios.push_back(times_[0] / times_[contender]);
  } else if (++disturbed_pairs_ == most_disturbed_pairs) {
    decided_ = true;
    undecided_ = true;
    return;
  }
  if (ratios.size() < pairs) return;
  decided_ = true;
  const double middle = median(ratios);
  const auto won = std::count_if(ratios.begin(), ratios.end(), [](double one) { return one > 1; });
  if (middle < least_gain || static_cast<std::size_t>(won) * 4 < ratios.size() * 3) return;
  winner_ = contender;
  gain_ = middle;
}

}  // namespace axle::runtime
