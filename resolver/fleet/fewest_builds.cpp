#include "resolver/fleet/fewest_builds.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "resolver/fleet/ladder.h"

namespace axle::resolver {

namespace {

using Ladders = std::map<std::string, Ladder, std::less<>>;
using Labels = std::set<std::string, std::less<>>;

/// Choices are solved one by one, each for every machine.
constexpr std::size_t most_choices = 12;
/// More labels than that are not combined with each other.
constexpr std::size_t most_labels = 16;

std::size_t count_files(const std::vector<plan::Resolution>& answers) {
  std::set<std::string> files;
  for (const plan::Resolution& answer : answers) {
    // Libraries that follow a build are as many as it needs.
    for (const plan::ResolvedPackage& package : answer.packages) {
      if (package.variant) files.insert(package.filename);
    }
  }
  return files.size();
}

/// Sets of labels of which every machine can take one, the smallest first, then those that rank
/// best.
class Covers {
 public:
  explicit Covers(const std::vector<const Ladder*>& ladders) : ladders_(ladders) {
    std::map<std::string, std::size_t> served;
    for (const Ladder* ladder : ladders) {
      for (const std::string& label : ladder->alike) ++served[label];
    }
    for (const auto& [label, machines] : served) labels_.push_back(label);
    // The widest first; among equals by name.
    std::ranges::sort(labels_, [&](const std::string& left, const std::string& right) {
      return served[left] != served[right] ? served[left] > served[right] : left < right;
    });
    labels_.resize(std::min(labels_.size(), most_labels));
    // Each machine's best serves it, if nothing else does.
    for (const Ladder* ladder : ladders) {
      const std::string& best = ladder->alike.front();
      if (std::ranges::find(labels_, best) == labels_.end()) beyond_.insert(best);
    }
  }

  /// With fewer labels than `size`.
  [[nodiscard]] std::vector<Labels> smaller_than(std::size_t size) const {
    std::vector<std::tuple<int, std::size_t, unsigned>> found;  // labels, loss, which
    for (unsigned which = 1; which < (1U << labels_.size()); ++which) {
      const int count = std::popcount(which);
      if (static_cast<std::size_t>(count) + beyond_.size() >= size) continue;
      if (const auto loss = loss_of(which)) found.emplace_back(count, *loss, which);
    }
    std::ranges::sort(found);
    found.resize(std::min(found.size(), most_choices));
    std::vector<Labels> covers;
    for (const auto& [count, loss, which] : found) covers.push_back(set_of(which));
    return covers;
  }

 private:
  [[nodiscard]] Labels set_of(unsigned which) const {
    Labels labels(beyond_.begin(), beyond_.end());
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if ((which >> i & 1U) != 0) labels.insert(labels_[i]);
    }
    return labels;
  }

  /// How far down their ladders the machines go; nullopt: one of them has none of the labels.
  [[nodiscard]] std::optional<std::size_t> loss_of(unsigned which) const {
    const Labels labels = set_of(which);
    std::size_t loss = 0;
    for (const Ladder* ladder : ladders_) {
      const auto first = std::ranges::find_if(
          ladder->alike, [&](const std::string& label) { return labels.contains(label); });
      if (first == ladder->alike.end()) return std::nullopt;
      loss += static_cast<std::size_t>(first - ladder->alike.begin());
    }
    return loss;
  }

  const std::vector<const Ladder*>& ladders_;
  std::vector<std::string> labels_;
  std::set<std::string> beyond_;
};

/// Shares the builds of one name after another.
class Sharing {
 public:
  Sharing(const std::vector<plan::Resolution>& best, const SolveWithout& solve)
      : best_(best), solve_(solve), answers_(best) {
    for (const plan::Resolution& answer : best) ladders_.push_back(ladders_of(answer));
  }

  WithheldBuilds find() {
    std::set<std::string> names;
    for (const Ladders& ladders : ladders_) {
      for (const auto& [name, ladder] : ladders) names.insert(name);
    }
    for (const std::string& name : names) share(name);
    return std::move(withheld_);
  }

 private:
  void share(const std::string& name) {
    std::vector<const Ladder*> ladders;
    std::set<std::string> chosen;
    std::set<std::string> all;
    for (const Ladders& of_machine : ladders_) {
      const auto ladder = of_machine.find(name);
      if (ladder == of_machine.end()) continue;
      ladders.push_back(&ladder->second);
      chosen.insert(ladder->second.alike.front());
      all.insert(ladder->second.alike.begin(), ladder->second.alike.end());
      all.insert(ladder->second.partial.begin(), ladder->second.partial.end());
    }
    for (const auto& cover : Covers(ladders).smaller_than(chosen.size())) {
      WithheldBuilds withheld = withheld_;
      std::ranges::set_difference(all, cover, std::inserter(withheld[name], withheld[name].end()),
                                  std::less<>());
      if (take(withheld)) return;
    }
  }

  /// Whether all machines have an answer, as new as before, with fewer files.
  bool take(WithheldBuilds& withheld) {
    std::vector<plan::Resolution> answers;
    for (std::size_t machine = 0; machine < best_.size(); ++machine) {
      auto answer = solve_(machine, withheld);
      if (!answer || !keeps_versions(best_[machine], *answer) ||
          !lesser_in(ladders_[machine], *answer).empty())
        return false;
      answers.push_back(*std::move(answer));
    }
    if (count_files(answers) >= count_files(answers_)) return false;
    answers_ = std::move(answers);
    withheld_ = std::move(withheld);
    return true;
  }

  const std::vector<plan::Resolution>& best_;
  const SolveWithout& solve_;
  std::vector<Ladders> ladders_;
  std::vector<plan::Resolution> answers_;
  WithheldBuilds withheld_;
};

}  // namespace

WithheldBuilds fewest_builds(const std::vector<plan::Resolution>& best, const SolveWithout& solve) {
  return Sharing(best, solve).find();
}

}  // namespace axle::resolver
