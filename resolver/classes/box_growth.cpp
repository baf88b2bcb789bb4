#include "resolver/classes/box_growth.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace axle::resolver {
namespace {

/// Machines of one group of facts that are looked at.
constexpr std::size_t most_cells = 20'000;
/// A box is grown anew when values were found meanwhile that split one of its ranges.
constexpr unsigned most_attempts = 3;

/// What is widened first says what predicates look like: a driver's bounds, then which GPUs; the
/// platform last, which other facts may imply.
std::size_t turn_of(std::string_view fact) {
  constexpr std::array<std::string_view, 22> turns = {
      "driver",  "rocm",         "mps",       "libc",      "macos",  "npu_driver", "cann", "x86_64",
      "aarch64", "cpu",          "sve_bytes", "sme_bytes", "device", "gfx",        "npu",  "tpu",
      "sm",      "arm_platform", "property",  "kernel",    "system", "arch"};
  const FactRow* row = find_fact_row(fact);
  return static_cast<std::size_t>(std::ranges::find(turns, row->name) - turns.begin());
}

/// Only Linux has a choice of C libraries, and always one of them; so has macOS of its versions.
bool suits(std::string_view fact, std::string_view value, std::string_view system) {
  if (system.empty()) return true;
  if (fact == "libc") return value.empty() != (system == "linux");
  if (fact == "macos") return value.empty() != (system == "darwin");
  return true;
}

bool is_of_gpus(std::string_view fact) { return fact == "sm" || fact == "gfx" || fact == "device"; }

Range only(std::string_view value) { return {.values = {std::string(value)}}; }

}  // namespace

BoxGrowth::BoxGrowth(Derivations& derivations, Derivation& own, const FactValues& facts,
                     std::size_t most_solves)
    : derivations_(derivations),
      own_(own),
      facts_(facts),
      most_solves_(derivations.solves() + most_solves) {}

void BoxGrowth::begin() {
  box_.clear();
  for (const std::string& fact : own_.facts) box_[fact] = only(value_of(facts_, fact));
  used_ = {&own_};
  learn_values(box_);
}

const Box& BoxGrowth::grow() {
  for (unsigned attempt = 0; attempt < most_attempts; ++attempt) {
    begin();
    if (grow_all()) return box_;
  }
  bounded_ = true;
  begin();
  return box_;
}

bool BoxGrowth::grow_all() {
  std::set<std::string, std::less<>> done;
  while (true) {
    const std::string* next = nullptr;
    for (const auto& [fact, range] : box_) {
      if (done.contains(fact)) continue;
      if (next == nullptr || turn_of(fact) < turn_of(*next)) next = &fact;
    }
    if (next == nullptr) break;
    const std::string fact = *next;
    done.insert(fact);
    widen(fact);
  }
  while (true) {
    learn_values(box_);
    Box all = box_;
    if (!add_mixtures(all)) return false;
    const Box before = all;
    Used used;
    if (!covers(all, used) || all != before) return false;
    const bool settled = used_.size() == used.size() && all == box_;
    box_ = std::move(all);
    used_ = std::move(used);
    if (settled) return true;
  }
}

void BoxGrowth::widen(const std::string& fact) {
  if (fact == "kernel") return;  // what markers compare it with are no values that are known
  // Nobody knows which place a plugin would give a property that it does not tell of here.
  if (fact.starts_with(property_fact) && value_of(facts_, fact).empty()) return;
  if (fact == "libc") return widen_libc();
  // Of another system: no version of macOS is one of its machines.
  if (fact == "macos" && value_of(facts_, fact).empty()) {
    if (take_in(fact, {.values = {}, .any = true})) box_[fact].any = true;
    return;
  }
  if (find_fact_row(fact)->kind == FactKind::ordered) return widen_ordered(fact);
  widen_named(fact);
}

void BoxGrowth::widen_ordered(const std::string& fact) {
  const std::vector<std::string> values = known_.at(fact);  // "" first
  const std::string own(value_of(facts_, fact));
  const auto start = std::ranges::find(values, own);
  auto next = start + 1;
  while (next != values.end() && take_in(fact, only(*next))) ++next;
  if (next == values.end()) box_[fact].upwards = true;
  auto previous = start;
  while (previous != values.begin() && take_in(fact, only(*(previous - 1)))) --previous;
  if (previous == values.begin() && box_[fact].upwards) box_[fact].any = true;
}

void BoxGrowth::widen_libc() {
  const std::vector<std::string> values = known_.at("libc");
  const std::string own(value_of(facts_, "libc"));
  const std::string family = own.substr(0, own.find(' '));
  const auto start = std::ranges::find(values, own);
  const auto is_alike = [&](const std::string& value) {
    return !family.empty() && value.starts_with(family);
  };
  auto next = start + 1;
  while (next != values.end() && is_alike(*next) && take_in("libc", only(*next))) ++next;
  auto previous = start;
  while (previous != values.begin() && is_alike(*(previous - 1)) &&
         take_in("libc", only(*(previous - 1)))) {
    --previous;
  }
  const bool whole = (next == values.end() || !is_alike(*next)) &&
                     (previous == values.begin() || !is_alike(*(previous - 1)));
  if (whole && take_in("libc", {.values = {}, .any = true})) box_["libc"].any = true;
}

void BoxGrowth::widen_named(const std::string& fact) {
  // Every machine has a system and an architecture.
  const bool always = fact == "system" || fact == "arch";
  bool all = true;
  for (const std::string& value : std::vector<std::string>(known_.at(fact))) {
    if (box_[fact].values.contains(value) || (always && value.empty())) continue;
    if (!take_in(fact, only(value))) all = false;
  }
  Range every{.values = {}, .any = true};
  const auto singles = singles_in(all ? every : box_[fact], fact);
  const auto unlike = mixtures(fact, singles);
  if (!unlike) {
    bounded_ = true;
    return;
  }
  if (all) {
    every.values.insert(unlike->begin(), unlike->end());
    if (take_in(fact, every)) box_[fact].any = true;
  } else if (singles.size() > 1) {
    const Range some{.values = {unlike->begin(), unlike->end()}};
    if (unlike->empty() || take_in(fact, some)) box_[fact].mixed = is_of_gpus(fact);
  }
}

bool BoxGrowth::take_in(const std::string& fact, const Range& added) {
  Box trial = box_;
  trial[fact] = added;
  Used used;
  if (!covers(trial, used)) return false;
  Range whole = box_[fact];
  whole.values.insert(added.values.begin(), added.values.end());
  trial[fact] = std::move(whole);
  box_ = std::move(trial);
  used_.insert(used.begin(), used.end());
  return true;
}

bool BoxGrowth::covers(Box& box, Used& used) {
  while (true) {
    used.clear();
    const Verdict verdict = covers_once(box, used);
    if (verdict != Verdict::again) return verdict == Verdict::same;
    learn_values(box);
  }
}

BoxGrowth::Verdict BoxGrowth::covers_once(Box& box, Used& used) {
  const std::vector<std::string> systems =
      values_in(box.at("system"), "system", known_.at("system"));
  const std::vector<std::string> archs = values_in(box.at("arch"), "arch", known_.at("arch"));
  for (const std::string& system : systems) {
    for (const std::string& arch : archs) {
      const bool always = system == value_of(facts_, "system") && arch == value_of(facts_, "arch");
      if ((system.empty() || arch.empty()) && !always) continue;
      FactValues platform;
      if (!system.empty()) platform.emplace("system", system);
      if (!arch.empty()) platform.emplace("arch", arch);
      const Verdict verdict = covers_platform(box, platform, used);
      if (verdict != Verdict::same) return verdict;
    }
  }
  return Verdict::same;
}

BoxGrowth::Verdict BoxGrowth::covers_platform(Box& box, const FactValues& platform, Used& used) {
  const auto grid = grid_of(box, platform);
  if (!grid) {
    bounded_ = true;
    return Verdict::other;
  }
  Region whole;
  for (const std::vector<Cell>& cells : grid->cells) {
    if (cells.empty()) return Verdict::same;  // no machine of this platform is in the box
    std::vector<std::size_t>& places = whole.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) places.push_back(i);
  }
  std::vector<Region> left = {std::move(whole)};
  while (!left.empty()) {
    const Region region = std::move(left.back());
    left.pop_back();
    const FactValues point = point_of(box, *grid, pick(*grid, region), platform);
    Derivation* derivation = derivation_at(point);
    if (derivation == nullptr) return Verdict::other;
    bool known = true;
    for (const std::string& fact : derivation->facts) {
      if (box.contains(fact)) continue;
      box[fact] = only(value_of(facts_, fact));
      known = false;
    }
    // A derivation made just now may be the first to link facts that the grid keeps apart.
    if (!known || !fits(*grid, *derivation)) return Verdict::again;
    used.insert(derivation);
    add_rest(*grid, region, *derivation, platform, left);
  }
  return Verdict::same;
}

bool BoxGrowth::fits(const Grid& grid, const Derivation& derivation) const {
  return std::ranges::all_of(derivation.groups, [&](const FactGroup& linked) {
    return std::ranges::any_of(grid.groups, [&](const FactGroup& group) {
      // The system and the architecture are the platform's, in no group of the grid.
      return std::ranges::all_of(linked, [&](const std::string& fact) {
        return fact == "system" || fact == "arch" || std::ranges::find(group, fact) != group.end();
      });
    });
  });
}

std::optional<BoxGrowth::Grid> BoxGrowth::grid_of(const Box& box, const FactValues& platform) {
  std::set<std::string, std::less<>> facts;
  for (const auto& [fact, range] : box) {
    if (!platform.contains(fact) && fact != "system" && fact != "arch") facts.insert(fact);
  }
  Grid grid{derivations_.group(facts), {}};
  for (const FactGroup& group : grid.groups) {
    auto cells = cells_of(box, group, platform);
    if (!cells) return std::nullopt;
    grid.cells.push_back(std::move(*cells));
  }
  return grid;
}

std::optional<std::vector<BoxGrowth::Cell>> BoxGrowth::cells_of(const Box& box,
                                                                const FactGroup& group,
                                                                const FactValues& platform) {
  std::vector<Cell> cells = {{}};
  for (const std::string& fact : group) {
    std::vector<std::string> values = values_in(box.at(fact), fact, known_.at(fact));
    const std::string_view system = value_of(platform, "system");
    // What is not known of the class's own machine is no contradiction.
    std::erase_if(values, [&](const std::string& value) {
      const bool own = system == value_of(facts_, "system") && value == value_of(facts_, fact);
      return !own && !suits(fact, value, system);
    });
    std::vector<Cell> longer;
    if (cells.size() * values.size() > most_cells) return std::nullopt;
    for (const Cell& cell : cells) {
      for (const std::string& value : values) {
        longer.push_back(cell);
        longer.back().push_back(value);
      }
    }
    cells = std::move(longer);
  }
  std::erase_if(cells, [&](const Cell& cell) { return !is_possible(group, cell, platform); });
  return cells;
}

bool BoxGrowth::is_possible(const FactGroup& group, const Cell& cell, const FactValues& platform) {
  std::string key;
  for (std::size_t i = 0; i < group.size(); ++i)
    key.append(group[i]).append("=").append(cell[i]).append("\n");
  key += value_of(platform, "system");
  key += " ";
  key += value_of(platform, "arch");
  const auto [known, is_new] = possible_.try_emplace(std::move(key));
  if (!is_new) return known->second;
  FactValues facts = platform;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!cell[i].empty()) facts.emplace(group[i], cell[i]);
  }
  const FactValues back = facts_of(machine_with(facts), derivations_.gpus());
  known->second = true;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i].starts_with(property_fact)) continue;
    if (value_of(back, group[i]) != cell[i]) known->second = false;
  }
  return known->second;
}

std::vector<std::size_t> BoxGrowth::pick(const Grid& grid, const Region& region) const {
  std::vector<std::size_t> picked;
  for (std::size_t i = 0; i < region.size(); ++i) {
    const auto own = std::ranges::find_if(region[i], [&](std::size_t place) {
      const Cell& cell = grid.cells[i][place];
      for (std::size_t j = 0; j < cell.size(); ++j) {
        if (value_of(facts_, grid.groups[i][j]) != cell[j]) return false;
      }
      return true;
    });
    picked.push_back(own != region[i].end() ? *own : region[i].front());
  }
  return picked;
}

FactValues BoxGrowth::point_of(const Box& box, const Grid& grid,
                               const std::vector<std::size_t>& picked,
                               const FactValues& platform) const {
  FactValues point = platform;
  for (std::size_t i = 0; i < picked.size(); ++i) {
    const Cell& cell = grid.cells[i][picked[i]];
    for (std::size_t j = 0; j < cell.size(); ++j) {
      if (!cell[j].empty()) point.insert_or_assign(grid.groups[i][j], cell[j]);
    }
  }
  FactValues filled = point;
  for (const auto& [fact, value] : facts_) {
    if (!box.contains(fact)) filled.emplace(fact, value);
  }
  const FactValues back = facts_of(machine_with(filled), derivations_.gpus());
  const bool agrees = std::ranges::all_of(filled, [&](const auto& fact) {
    return fact.first.starts_with(property_fact) || value_of(back, fact.first) == fact.second;
  });
  const bool adds = std::ranges::any_of(back, [&](const auto& fact) {
    return box.contains(fact.first) && !filled.contains(fact.first);
  });
  return agrees && !adds ? filled : point;
}

Derivation* BoxGrowth::derivation_at(const FactValues& point) {
  Derivation* derivation = derivations_.find(point);
  if (derivation == nullptr) {
    if (derivations_.excludes(point, own_)) return nullptr;
    if (derivations_.solves() >= most_solves_) {
      bounded_ = true;
      return nullptr;
    }
    derivation = derivations_.solve(point);
  }
  return derivation != nullptr && derivation->answer == own_.answer ? derivation : nullptr;
}

void BoxGrowth::add_rest(const Grid& grid, const Region& region, Derivation& derivation,
                         const FactValues& platform, std::vector<Region>& rest) {
  std::vector<std::vector<std::size_t>> same(region.size());
  std::vector<std::vector<std::size_t>> other(region.size());
  for (std::size_t i = 0; i < region.size(); ++i) {
    const FactGroup& group = grid.groups[i];
    std::vector<std::size_t> parts;
    for (std::size_t k = 0; k < derivation.groups.size(); ++k) {
      // The system and the architecture are the platform's, and go with the C library.
      const bool inside = std::ranges::any_of(derivation.groups[k], [&](const std::string& fact) {
        return std::ranges::find(group, fact) != group.end();
      });
      if (inside) parts.push_back(k);
    }
    for (const std::size_t place : region[i]) {
      FactValues point = platform;
      const Cell& cell = grid.cells[i][place];
      for (std::size_t j = 0; j < cell.size(); ++j) {
        if (!cell[j].empty()) point.insert_or_assign(group[j], cell[j]);
      }
      const bool alike = std::ranges::all_of(parts, [&](std::size_t k) {
        return derivations_.signature(derivation, k, point) == derivation.signatures[k];
      });
      (alike ? same : other)[i].push_back(place);
    }
  }
  for (std::size_t i = 0; i < region.size(); ++i) {
    if (other[i].empty()) continue;
    Region part = region;
    for (std::size_t j = 0; j < i; ++j) part[j] = same[j];
    part[i] = other[i];
    rest.push_back(std::move(part));
  }
}

}  // namespace axle::resolver
