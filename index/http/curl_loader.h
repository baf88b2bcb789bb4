#pragma once
// Opens the module that contains libcurl.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "index/http/curl_api.h"
#include "index/opened_module.h"

namespace axle::index {

inline constexpr Module curl_module = {"libaxle_curl.so", "network module", axle_curl_factory_name};

/// Errors: those of open_module; io (it belongs to another release).
[[nodiscard]] Result<const AxleCurlApi*> load_curl(const std::vector<std::string>& paths);

}  // namespace axle::index
