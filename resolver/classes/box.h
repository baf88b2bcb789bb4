#pragma once
// A set of machines: for some facts the values that they may have, for all others any.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "resolver/predicate/machine_facts.h"
#include "resolver/predicate/predicate.h"

namespace axle::resolver {

/// The known values of each fact, with those that derivations named: ascending, "" (none) first.
using Values = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Which values of one fact are in.
struct Range {
  std::set<std::string, std::less<>> values;  ///< "": none
  /// Of an ordered fact: all newer ones too, also those that nobody knows yet.
  bool upwards = false;
  bool any = false;  ///< every value, known or not
  /// Of GPUs: mixtures of these values too, of which `values` has some of each kind.
  bool mixed = false;

  friend bool operator==(const Range&, const Range&) = default;
};

using Box = std::map<std::string, Range, std::less<>>;

/// All values of `fact` that stand for a machine in the range.
[[nodiscard]] std::vector<std::string> values_in(const Range& range, std::string_view fact,
                                                 const std::vector<std::string>& known);

[[nodiscard]] Predicate predicate_of(const Box& box, const Values& known);

}  // namespace axle::resolver
