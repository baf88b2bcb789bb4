#pragma once
// Who wants which versions of a package: the user, or another package of the solution.

#include <string>
#include <vector>

#include "wheel/hash/listed_hash.h"
#include "wheel/requirement.h"

namespace axle::resolver {

/// One requirement and who has it.
struct Want {
  wheel::Requirement requirement;
  std::string by;                              ///< normalised name of the package; empty: the user
  std::string by_version;                      ///< empty: the user
  bool constraint = false;                     ///< narrows, but asks for nothing
  std::vector<wheel::ListedHash> hashes = {};  ///< of the user: the file must have one of them
  std::string origin = {};                     ///< of the user: "requirements.txt:3"
  /// For people, where `requirement` cannot say it: "torch 2.9 or 2.10"; else empty.
  std::string text = {};
  /// Whoever wants it was itself named by path or URL, and so may name URLs.
  bool by_direct = false;
  /// A constraint of the user's that takes the place of what others want.
  bool overrides = false;

  /// The user asks for the package; a constraint only says of what kind it must be.
  [[nodiscard]] bool is_request() const { return by.empty() && !constraint; }
};

/// What the user wants of a package, constraints included.
[[nodiscard]] std::vector<const Want*> wants_of_user(const std::vector<Want>& wants);

/// Requirements that must hold; what a package says of itself only adds extras.
[[nodiscard]] std::vector<const Want*> binding_wants(const std::string& name,
                                                     const std::vector<Want>& wants);

/// The URLs that `wants` name, each once, in order.
[[nodiscard]] std::vector<std::string> direct_urls(const std::vector<const Want*>& wants);

/// A package of an index decides about versions, never about where other packages come from:
/// nullptr, or the want whose URL the user did not name.
[[nodiscard]] const Want* foreign_url(const std::vector<const Want*>& wants);

}  // namespace axle::resolver
