#pragma once
// The back end in a project's [build-system] (PEP 517, PEP 518). Axle builds what [tool.axle]
// describes and does not run back ends yet.

#include "builder/project.h"
#include "foundation/documents/toml_reader.h"

namespace axle::builder {

/// Rejects, with the back end's name, file and line, a project whose files only its back end knows:
/// one for which [tool.axle] has neither packages nor a CMake project.
void refuse_other_back_end(documents::TomlTable& root, const Project& project);

}  // namespace axle::builder
