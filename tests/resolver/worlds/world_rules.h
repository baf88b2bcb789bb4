#pragma once
// What makes an answer right, written from the rules alone (solver.h) and apart from the solver:
// a checker of answers, and an exhaustive search for small worlds.

#include <cstdint>
#include <optional>
#include <string>

#include "tests/resolver/worlds/random_world.h"

namespace axle::testing {

/// Empty: the answer is a solution, and holds nothing that is not needed. A pre-release that nobody
/// in it wishes for may be in it where there is no solution by the user's wishes.
[[nodiscard]] std::string broken_rule(const PublishedWorld& world, const WorldAnswer& answer);

/// Whose wishes make pre-releases and yanked releases count.
enum class Wishes : std::uint8_t {
  of_user,     ///< only those of the user
  of_anybody,  ///< those of packages too, which are found on the way or not
  needless,    ///< pre-releases count unasked: the last resort; of yanked ones the user's wishes
};

/// nullopt: the world is too large for a search through everything.
[[nodiscard]] std::optional<bool> has_solution(const PublishedWorld& world, Wishes wishes);

/// A package of which a better build would do with all the rest as it is, and no other yanked
/// release; empty: there is none.
[[nodiscard]] std::optional<std::string> could_be_better(const PublishedWorld& world,
                                                         const WorldAnswer& answer);

}  // namespace axle::testing
