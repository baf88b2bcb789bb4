#include "resolver/solver/integer_set.h"

#include <algorithm>
#include <utility>

namespace axle::resolver {

namespace {

using Value = IntegerSet::Value;
using Boundaries = std::vector<Value>;

/// Walks both lists once and calls `at(value, in_left, in_right)` at every boundary, with what
/// holds from `value` on. Ends early when `at` returns false.
template <typename At>
void walk(const Boundaries& left, const Boundaries& right, At at) {
  std::size_t l = 0;
  std::size_t r = 0;
  while (l < left.size() || r < right.size()) {
    const bool take_left = r == right.size() || (l < left.size() && left[l] <= right[r]);
    const bool take_right = l == left.size() || (r < right.size() && right[r] <= left[l]);
    const Value value = take_left ? left[l] : right[r];
    l += take_left ? 1 : 0;
    r += take_right ? 1 : 0;
    if (!at(value, l % 2 == 1, r % 2 == 1)) return;
  }
}

template <typename Belongs>
Boundaries combined(const Boundaries& left, const Boundaries& right, Belongs belongs) {
  Boundaries result;
  result.reserve(left.size() + right.size());
  walk(left, right, [&](Value value, bool in_left, bool in_right) {
    if (belongs(in_left, in_right) != (result.size() % 2 == 1)) result.push_back(value);
    return true;
  });
  return result;
}

}  // namespace

IntegerSet IntegerSet::from_to(Value first, Value last) {
  return first < last ? IntegerSet({first, last}) : IntegerSet();
}

bool IntegerSet::contains(Value value) const {
  const auto above = std::ranges::upper_bound(boundaries_, value);
  return (above - boundaries_.begin()) % 2 == 1;
}

bool IntegerSet::contains(const IntegerSet& part) const {
  bool whole = true;
  walk(boundaries_, part.boundaries_, [&](Value, bool here, bool there) {
    whole = here || !there;
    return whole;
  });
  return whole;
}

bool IntegerSet::meets(const IntegerSet& other) const {
  bool met = false;
  walk(boundaries_, other.boundaries_, [&](Value, bool here, bool there) {
    met = here && there;
    return !met;
  });
  return met;
}

IntegerSet IntegerSet::pieces_that_meet(const IntegerSet& other) const {
  Boundaries pieces;
  Value begin = 0;  // of the interval that the walk is in
  bool inside = false;
  bool met = false;
  walk(boundaries_, other.boundaries_, [&](Value value, bool here, bool there) {
    if (inside && !here) {
      if (met) pieces.insert(pieces.end(), {begin, value});
      met = false;
    }
    if (here && !inside) begin = value;
    inside = here;
    met = met || (here && there);
    return true;
  });
  if (inside && met) pieces.push_back(begin);
  return IntegerSet(std::move(pieces));
}

std::optional<Value> IntegerSet::last_below(Value limit) const {
  // Boundaries below the limit: an odd count says that limit - 1 belongs.
  const auto below = std::ranges::lower_bound(boundaries_, limit) - boundaries_.begin();
  if (below == 0) return std::nullopt;
  if (below % 2 == 1) return limit - 1;
  return boundaries_[static_cast<std::size_t>(below) - 1] - 1;
}

IntegerSet IntegerSet::complement() const {
  Boundaries flipped = boundaries_;
  if (!flipped.empty() && flipped.front() == 0) {
    flipped.erase(flipped.begin());
  } else {
    flipped.insert(flipped.begin(), 0);
  }
  return IntegerSet(std::move(flipped));
}

IntegerSet operator&(const IntegerSet& left, const IntegerSet& right) {
  return IntegerSet(
      combined(left.boundaries_, right.boundaries_, [](bool l, bool r) { return l && r; }));
}

IntegerSet operator|(const IntegerSet& left, const IntegerSet& right) {
  return IntegerSet(
      combined(left.boundaries_, right.boundaries_, [](bool l, bool r) { return l || r; }));
}

}  // namespace axle::resolver
