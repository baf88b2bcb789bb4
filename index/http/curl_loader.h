#pragma once
// Finds and opens the module that contains libcurl.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "index/http/curl_api.h"

namespace axle::index {

/// Next to the program, then ../lib/axle/ from it.
[[nodiscard]] std::vector<std::string> curl_module_paths();

/// Opens the first of `paths` that exists; the module stays open. Error: io, with the searched
/// paths.
[[nodiscard]] Result<const AxleCurlApi*> load_curl(const std::vector<std::string>& paths);

}  // namespace axle::index
