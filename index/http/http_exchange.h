#pragma once
// One HTTP request and its response, through the curl module. No redirects, no retries.

#include <cstdint>
#include <optional>
#include <string>

#include "index/http/curl_api.h"
#include "index/http/http_rules.h"
#include "index/http/transport.h"

namespace axle::index {

/// The result of an exchange, and whether a retry may help.
struct ExchangeResult {
  Result<HttpResponse> response;
  ResponseHead head;
  bool transient = false;
  bool bytes_given = false;  ///< the sink has received part of the body
};

struct ExchangeTarget {
  std::string url;   ///< without credentials
  std::string user;  ///< empty: none
  std::string password;
};

/// `sink` nullptr: the body is collected in the response.
[[nodiscard]] ExchangeResult perform_exchange(const AxleCurlApi& api, void* handle,
                                              const TransportOptions& options,
                                              const HttpRequest& request,
                                              const ExchangeTarget& target, const BodySink* sink);

}  // namespace axle::index
