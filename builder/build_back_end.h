#pragma once
// The back end in a project's [build-system] (PEP 517, PEP 518).

#include <string>

#include "foundation/documents/toml_reader.h"

namespace axle::builder {

/// The package of the back end: "scikit-build-core"; setuptools if [build-system] names none. Empty
/// without [build-system].
[[nodiscard]] std::string read_back_end(documents::TomlTable& root);

}  // namespace axle::builder
