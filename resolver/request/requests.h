#pragma once
// What the user asks for.

#include <string>
#include <vector>

#include "wheel/hash/listed_hash.h"
#include "wheel/requirement.h"

namespace axle::resolver {

/// One requirement of the user's, and what stands beside it.
struct Request {
  wheel::Requirement requirement;
  std::vector<wheel::ListedHash> hashes = {};  ///< the file must have one of them; empty: any file
  std::string origin = {};                     ///< "requirements.txt:3"; empty: the command line
  bool editable = false;                       ///< of a folder: -e
};

struct Requests {
  std::vector<Request> requirements = {};
  std::vector<Request> constraints = {};
  /// They take the place of all that anybody requires of the same names (uv's overrides).
  std::vector<Request> overrides = {};
};

}  // namespace axle::resolver
