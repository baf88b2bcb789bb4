#pragma once
// What `variant index lint` finds.

#include <cstdint>
#include <string>
#include <vector>

namespace axle::resolver {

struct LintFinding {
  std::string code;     ///< "dominated_variant"; docs/indexes.md has them all
  std::string project;  ///< normalised; empty: of the index itself
  std::string subject;  ///< a file, a version, or a version and a label; may be empty
  std::string message;
  std::string hint;
  std::vector<std::string> machines = {};  ///< of the corpus, concerned by it
  std::uint64_t bytes = 0;                 ///< of wheels that nobody gets because of it
};

}  // namespace axle::resolver
