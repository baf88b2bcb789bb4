#pragma once
// The back end that a project's [build-system] names (PEP 517, PEP 518). Axle builds what
// [tool.axle] describes and drives no back end yet.

#include "builder/project.h"
#include "foundation/documents/toml_reader.h"

namespace axle::builder {

/// Refuses, with the back end's name, file and line, a project whose files only its back end knows:
/// one that [tool.axle] gives neither packages nor a CMake project.
void refuse_other_back_end(documents::TomlTable& root, const Project& project);

}  // namespace axle::builder
