#pragma once
// The packages of another tool's lock as they are read: names, versions, and what needs what.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "session/projects/imported_project.h"

namespace axle::session {

/// Versions by name, until it is known which names have one alone.
class LockedVersions {
 public:
  /// `name`: any spelling.
  void add(std::string_view name, const std::string& version);
  /// Names with one version are pins; of others `into` is told. `wanted`: normalised; nullptr: all.
  void finish(const std::string& where, const std::set<std::string>* wanted,
              ImportedProject& into) const;

 private:
  std::map<std::string, std::set<std::string>> versions_;  ///< by normalised name
};

}  // namespace axle::session
