#pragma once
// Whether the parts of a lock that was read go together.

#include <string_view>
#include <vector>

#include "foundation/documents/toml_reader.h"
#include "plan/lock/lock.h"

namespace axle::plan {

/// The tables of a lock, for the lines in errors.
struct LockTables {
  documents::TomlTable top;
  std::vector<documents::TomlTable> classes;   ///< one a Lock::classes
  std::vector<documents::TomlTable> packages;  ///< one a Lock::packages
};

/// Two classes of one name.
void check_classes(const Lock& lock, LockTables& tables);
/// Two files of one package in one class.
void check_files(const Lock& lock, LockTables& tables);
/// What somebody needs and no package is.
void check_needs(const Lock& lock, LockTables& tables);

/// Whether `package` is what `need` names, and of a version that it admits.
[[nodiscard]] bool meets(const LockedPackage& package, const wheel::Requirement& need);

}  // namespace axle::plan
