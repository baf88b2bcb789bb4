#pragma once
// `[tool.uv.sources]`: the sources of single packages in a project.

#include <string>
#include <vector>

#include "foundation/documents/toml_reader.h"
#include "foundation/report/error.h"
#include "session/settings/settings.h"

namespace axle::session {

/// A package may have several, with different markers. Error: malformed, with the line.
[[nodiscard]] Result<std::vector<PackageSource>> read_uv_sources(const toml::table& table,
                                                                 const std::string& where);

}  // namespace axle::session
