#include "index/http/curl_loader.h"

#include <bit>

namespace axle::index {

Result<const AxleCurlApi*> load_curl(const std::vector<std::string>& paths) {
  const auto function = open_module(curl_module, paths);
  if (!function) return std::unexpected(function.error());
  const AxleCurlApi* api = std::bit_cast<AxleCurlFactory>(*function)(axle_curl_api_version);
  if (api == nullptr || api->version != axle_curl_api_version)
    return other_release(curl_module, paths);
  return api;
}

}  // namespace axle::index
