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
#include "resolver/solver/candidate_list.h"
#include "resolver/solver/integer_set.h"
#include "wheel/version.h"

namespace axle::resolver {

/// Candidates by the package that they are of, and its extra; of each list for itself, since their
/// numbers are.
using Askers = std::map<std::pair<std::string, std::string>,
                        std::map<const CandidateList*, IntegerSet>, std::less<>>;

struct Admissions {
  /// Packages of which pre-releases count (solver.h has the rule).
  std::set<std::string, std::less<>> prereleases;
  /// Package -> requirements that pin a version: what PEP 592 asks for before a yanked file is
  /// used, and a family before a build of which not all is known.
  std::map<std::string, std::vector<Want>, std::less<>> pins;
  /// Releases without a wheel that fits may be built, as far as the user consents: there is no
  /// solution from wheels.
  bool builds = false;
  /// Package -> URLs that packages name which the user named by path or URL themselves.
  std::map<std::string, std::set<std::string>, std::less<>> urls;
  /// Installed packages of which other versions count too: keeping what is there was in the way.
  std::set<std::string, std::less<>> movable;
  /// Family -> the label that its first member was chosen with: members that are chosen before it
  /// go by that.
  std::map<const index::Family*, std::string> leads;
  /// Builds are not given up because what they were linked with (`abi_dependency`) was not part of
  /// the first solution: there is none without them, and another choice may bring it in.
  bool links_with_others = false;
  /// Packages whose yanked releases are looked at before anybody is known to pin them: there is no
  /// solution without, and whoever pins one may be found later.
  std::set<std::string, std::less<>> yanked;
  /// (package, version) of a yanked release -> the candidates that pin it, by name and extra. A
  /// solution has one of them, or the release is not asked for.
  std::map<std::pair<std::string, std::string>, Askers> askers;
  /// (package, version): pre-releases that were admitted for a version which was left again, so
  /// that nobody asks for them.
  std::set<std::pair<std::string, std::string>> refused;
  bool refuses = true;  ///< false: there is no solution without them
  /// Packages of which a build for a GPU is allowed that did not go with the rest of a solution:
  /// their family's fallback counts no longer.
  std::set<std::string, std::less<>> for_gpu;
  /// Builds of unlike backends may be in one solution: what mixes them is looked at.
  bool mixed = false;
};

}  // namespace axle::resolver
