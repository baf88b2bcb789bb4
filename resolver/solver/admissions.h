#pragma once
// What counts only once somebody asks for it by name, and what was left alone until it was in the
// way. The search finds it on its way and begins again with more: it only grows.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "index/family/family.h"
#include "resolver/request/want.h"
#include "wheel/version.h"

namespace axle::resolver {

/// The builds of a family's first member among which the label of all members is looked for.
struct SharedRelease {
  wheel::Version release;
  unsigned tier = 0;
};

struct Admissions {
  /// Packages of which pre-releases count (solver.h has the rule).
  std::set<std::string, std::less<>> prereleases;
  /// Package -> requirements that pin a version: what PEP 592 asks for before a yanked file is
  /// used, and a family before a build of which not all is known.
  std::map<std::string, std::vector<Want>, std::less<>> pins;
  /// Package -> URLs that packages name which the user named by path or URL themselves.
  std::map<std::string, std::set<std::string>, std::less<>> urls;
  /// Installed packages of which other versions count too: keeping what is there was in the way.
  std::set<std::string, std::less<>> movable;
  /// Family -> the label that its first member was chosen with: members that are chosen before it
  /// go by that.
  std::map<const index::Family*, std::string> leads;
  /// Family -> its first member's release, whose best label that all members have is looked for;
  /// see `unlike`.
  std::map<const index::Family*, SharedRelease> shared;
  /// Families whose members have unlike labels, since no label of that release is all of theirs.
  std::set<const index::Family*> unlike;
  /// (package, what a build of it needs): of `abi_dependency`, which nothing else brings in.
  std::set<std::pair<std::string, std::string>> absent;
  /// (package, version): pre-releases and yanked releases that were admitted for a version which
  /// was left again, so that nobody asks for them.
  std::set<std::pair<std::string, std::string>> refused;
  bool refuses = true;  ///< false: there is no solution without them
};

}  // namespace axle::resolver
