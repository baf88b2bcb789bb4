#pragma once
// Sets of 32-bit integers as sorted boundaries: what the solver's terms are made of. A candidate of
// a package is a number, a range of versions an interval of them, and "not chosen at all" is 0.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace axle::resolver {

/// A set of integers from 0 on. Kept as the places where membership changes, ascending, the first
/// of which begins to belong: {2, 5, 9} is 2 to 4 and everything from 9 on. So the complement is
/// one 0 more or less at the front, and a set without an upper end needs no largest number.
class IntegerSet {
 public:
  using Value = std::uint32_t;

  IntegerSet() = default;  ///< empty
  [[nodiscard]] static IntegerSet all() { return IntegerSet({0}); }
  [[nodiscard]] static IntegerSet one(Value value) { return from_to(value, value + 1); }
  /// `first` to `last - 1`; empty when there is none.
  [[nodiscard]] static IntegerSet from_to(Value first, Value last);
  [[nodiscard]] static IntegerSet from(Value first) { return IntegerSet({first}); }

  /// Makes a set of intervals that come in ascending order and do not overlap.
  class Builder;

  [[nodiscard]] bool empty() const { return boundaries_.empty(); }
  [[nodiscard]] bool is_all() const { return boundaries_.size() == 1 && boundaries_[0] == 0; }
  [[nodiscard]] bool contains(Value value) const;
  [[nodiscard]] bool contains(const IntegerSet& part) const;
  [[nodiscard]] bool meets(const IntegerSet& other) const;
  /// Those of its intervals that have a member of `other`.
  [[nodiscard]] IntegerSet pieces_that_meet(const IntegerSet& other) const;
  /// The largest member below `limit`.
  [[nodiscard]] std::optional<Value> last_below(Value limit) const;

  [[nodiscard]] IntegerSet complement() const;
  friend IntegerSet operator&(const IntegerSet& left, const IntegerSet& right);
  friend IntegerSet operator|(const IntegerSet& left, const IntegerSet& right);
  friend bool operator==(const IntegerSet&, const IntegerSet&) = default;

  [[nodiscard]] const std::vector<Value>& boundaries() const { return boundaries_; }

 private:
  explicit IntegerSet(std::vector<Value> boundaries) : boundaries_(std::move(boundaries)) {}

  std::vector<Value> boundaries_;
};

class IntegerSet::Builder {
 public:
  /// Adds `first` to `last - 1`.
  void add(Value first, Value last) {
    if (!boundaries_.empty() && boundaries_.back() == first) {
      boundaries_.back() = last;
    } else {
      boundaries_.push_back(first);
      boundaries_.push_back(last);
    }
  }
  [[nodiscard]] IntegerSet build() && { return IntegerSet(std::move(boundaries_)); }

 private:
  std::vector<Value> boundaries_;
};

}  // namespace axle::resolver
