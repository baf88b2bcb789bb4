#pragma once
// Finds and opens the module that holds libcurl.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "index/http/curl_api.h"

namespace axle::index {

/// Beside the program, then ../lib/axle/ from it.
[[nodiscard]] std::vector<std::string> curl_module_paths();

/// Opens the first of `paths` that exists; the module stays open. Error: io, naming what was looked
/// at.
[[nodiscard]] Result<const AxleCurlApi*> load_curl(const std::vector<std::string>& paths);

}  // namespace axle::index
