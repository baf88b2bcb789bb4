#pragma once
// The first pyproject.toml of a project.

#include <string>
#include <string_view>
#include <vector>

#include "session/settings/machine_classes.h"

namespace axle::session {

struct NewProject {
  std::string name;             ///< a valid name (PEP 508)
  std::string requires_python;  ///< ">=3.12"; empty: not stated
  std::vector<MachineClass> classes = {};
};

/// [project] (PEP 621) without dependencies, and the classes of machines.
[[nodiscard]] std::string render_new_project(const NewProject& project);

/// A valid name out of that of a folder: "My demo!" is "my-demo"; "" if nothing of it may be in
/// one.
[[nodiscard]] std::string name_for_folder(std::string_view folder);

}  // namespace axle::session
