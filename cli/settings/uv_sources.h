#pragma once
// `[tool.uv.sources]`: where a project has single packages come from.

#include <string>
#include <vector>

#include "cli/settings/settings.h"
#include "report/error.h"
#include "wheel/toml_reader.h"

namespace axle::cli {

/// Of one package there may be several, for different markers. Error: malformed, with the line.
[[nodiscard]] Result<std::vector<PackageSource>> read_uv_sources(const toml::table& table,
                                                                 const std::string& where);

}  // namespace axle::cli
