#pragma once
// `[tool.uv.sources]`: where a project has single packages come from.

#include <string>
#include <vector>

#include "foundation/documents/toml_reader.h"
#include "foundation/report/error.h"
#include "session/settings/settings.h"

namespace axle::session {

/// Of one package there may be several, for different markers. Error: malformed, with the line.
[[nodiscard]] Result<std::vector<PackageSource>> read_uv_sources(const toml::table& table,
                                                                 const std::string& where);

}  // namespace axle::session
