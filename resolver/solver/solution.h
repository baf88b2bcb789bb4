#pragma once
// A solution in the making: the packages so far, who wants them, and what was chosen.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "resolver/choice/package_choice.h"
#include "resolver/request/want.h"
#include "wheel/version.h"

namespace axle::resolver {

/// What is known of one package.
struct Node {
  std::vector<Want> wants;  ///< constraints first, then in order of arrival
  /// What goes with the installed first member of its family, or with the build that stays.
  std::vector<Want> installed_wants;
  std::optional<PackageChoice> choice;
  std::vector<std::string> extras;                 ///< that the choice was expanded for
  std::map<wheel::Version, std::string> excluded;  ///< with the conflict that excluded it
  std::set<std::string> rivals;                    ///< owners of the other sides of those conflicts
  std::size_t serial = 0;                          ///< when it was chosen
  unsigned relaxed = 0;  ///< how often it was chosen again because a requirement went
  bool queued = false;
  bool rechoose = false;
  bool abi_settled = false;  ///< only what the solution has counts, no guess at what it will have
};
using Nodes = std::map<std::string, Node, std::less<>>;

/// What the solver lets the rules of families see of a solution, and do to it.
class Solution {
 public:
  virtual ~Solution() = default;
  [[nodiscard]] virtual Nodes& nodes() = 0;
  /// The package is to be chosen, or looked at again; `first`: before all others.
  virtual void enqueue(const std::string& name, bool first = false) = 0;
  /// Takes back what was chosen, and what only that one wanted.
  virtual void drop(const std::string& name) = 0;
  /// The version that `package` has, or would most likely get, for who is `asking`.
  [[nodiscard]] virtual std::optional<wheel::Version> version_of(const std::string& asking,
                                                                 const std::string& package) = 0;
};

}  // namespace axle::resolver
