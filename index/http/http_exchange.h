#pragma once
// One HTTP request and its response, through the curl module. No redirects, no retries.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

class Exchange {
 public:
  /// `sink` nullptr: the body is collected in the response. `options`, `request` and the sink must
  /// outlive it.
  Exchange(const TransportOptions& options, const HttpRequest& request, ExchangeTarget target,
           const BodySink* sink);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// For the module, as long as this lives.
  [[nodiscard]] const AxleCurlExchange& call() const { return call_; }
  /// Once, after the module is done with it.
  [[nodiscard]] ExchangeResult finish(const AxleCurlOutcome& outcome);

 private:
  class Receiver;
  void prepare_call(const HttpCall& call);
  [[nodiscard]] std::int32_t read_body(std::uint64_t offset, std::span<char> part) noexcept;

  const TransportOptions& options_;
  const HttpRequest& request_;
  ExchangeTarget target_;
  std::unique_ptr<Receiver> receiver_;
  std::vector<std::string> headers_;
  std::vector<const char*> header_lines_;
  AxleCurlExchange call_{};
  bool body_failed_ = false;  ///< what is sent could not be read
};

}  // namespace axle::index
