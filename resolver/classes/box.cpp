#include "resolver/classes/box.h"

#include <algorithm>

namespace axle::resolver {
namespace {

bool is_ordered(std::string_view fact) {
  const FactRow* row = find_fact_row(fact);
  return row != nullptr && row->kind == FactKind::ordered;
}

Atom atom_of(std::string_view fact, AtomKind kind, const std::string& value) {
  if (fact == "driver") return driver_atom(kind, value);
  return {std::string(fact), kind, {value}};
}

/// "90+80" of "80" and "90".
bool is_made_of(std::string_view mixture, const std::set<std::string, std::less<>>& values) {
  while (!mixture.empty()) {
    const std::size_t end = std::min(mixture.find('+'), mixture.size());
    if (!values.contains(mixture.substr(0, end))) return false;
    mixture.remove_prefix(std::min(end + 1, mixture.size()));
  }
  return true;
}

/// Of a range that is not all of it.
void add_bounds(const Range& range, std::string_view fact, const std::vector<std::string>& known,
                Predicate& predicate) {
  const bool none = range.values.contains("");
  if (none && range.values.size() == 1 && !range.upwards) {
    predicate.atoms.push_back({std::string(fact), AtomKind::none, {}});
    return;
  }
  std::vector<std::string> values(range.values.begin(), range.values.end());
  std::ranges::sort(values, is_older);
  if (!none) predicate.atoms.push_back(atom_of(fact, AtomKind::at_least, values.front()));
  if (range.upwards) return;
  const auto next = std::ranges::find_if(
      known, [&](const std::string& value) { return is_older(values.back(), value); });
  if (next != known.end()) predicate.atoms.push_back(atom_of(fact, AtomKind::below, *next));
}

/// Of one family a range, or all of it.
void add_libc(const Range& range, const std::vector<std::string>& known, Predicate& predicate) {
  std::vector<std::string> values(range.values.begin(), range.values.end());
  std::ranges::sort(values, is_older);
  if (values == std::vector<std::string>{""}) {
    predicate.atoms.push_back({"libc", AtomKind::none, {}});
    return;
  }
  const auto family_of = [](const std::string& value) { return value.substr(0, value.find(' ')); };
  const auto version_of = [](const std::string& value) {
    return value.substr(value.find(' ') + 1);
  };
  const std::string family = family_of(values.back());
  std::vector<std::string> of_family;
  std::ranges::copy_if(known, std::back_inserter(of_family), [&](const std::string& value) {
    return !value.empty() && family_of(value) == family;
  });
  if (values.front() == of_family.front()) {
    predicate.atoms.push_back({"libc", AtomKind::equal, {family}});
  } else {
    predicate.atoms.push_back({family, AtomKind::at_least, {version_of(values.front())}});
  }
  const auto next = std::ranges::find_if(
      of_family, [&](const std::string& value) { return is_older(values.back(), value); });
  if (next != of_family.end())
    predicate.atoms.push_back({family, AtomKind::below, {version_of(*next)}});
}

}  // namespace

std::vector<std::string> values_in(const Range& range, std::string_view fact,
                                   const std::vector<std::string>& known) {
  if (range.any) {
    std::vector<std::string> all = known;
    const auto& unforeseen = unforeseen_values(fact);
    all.insert(all.end(), unforeseen.begin(), unforeseen.end());
    for (const std::string& value : range.values) {
      if (std::ranges::find(all, value) == all.end()) all.push_back(value);
    }
    return all;
  }
  std::vector<std::string> values(range.values.begin(), range.values.end());
  if (!is_ordered(fact) || values.empty()) return values;
  std::ranges::sort(values, is_older);
  const std::string oldest = values.front();
  const std::string newest = values.back();
  // A version between two of them is one that some derivation named since.
  for (const std::string& value : known) {
    const bool inside = is_older(oldest, value) && (range.upwards || is_older(value, newest));
    if (inside && !range.values.contains(value)) values.push_back(value);
  }
  return values;
}

Predicate predicate_of(const Box& box, const Values& known) {
  Predicate predicate;
  for (const auto& [fact, range] : box) {
    if (range.any) continue;
    const FactRow& row = *find_fact_row(fact);
    if (row.kind == FactKind::flag) {
      const AtomKind kind = range.values.contains("") ? AtomKind::lacks : AtomKind::has;
      predicate.atoms.push_back({std::string(row.name), kind, {fact.substr(row.name.size() + 1)}});
    } else if (fact == "libc") {
      add_libc(range, known.find(fact)->second, predicate);
    } else if (row.kind == FactKind::ordered) {
      add_bounds(range, fact, known.find(fact)->second, predicate);
    } else {
      Atom atom{fact, AtomKind::one_of, {}};
      for (const std::string& value : range.values) {
        if (!range.mixed || !value.contains('+') || !is_made_of(value, range.values))
          atom.values.push_back(value.empty() ? "none" : value);
      }
      if (range.mixed) atom.values.emplace_back(mixed_gpus);
      predicate.atoms.push_back(std::move(atom));
    }
  }
  put_in_order(predicate);
  return predicate;
}

}  // namespace axle::resolver
