#pragma once
// One request on its way to its response: the exchanges that it takes, one after the other, with
// credentials, redirects and retries. It performs none itself: http_transport.cpp does, many at
// once.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "index/http/credentials.h"
#include "index/http/curl_api.h"
#include "index/http/http_exchange.h"
#include "index/http/transport.h"

namespace axle::index {

class HttpTransfer {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Next : std::uint8_t {
    exchange,  ///< `begin`
    pause,     ///< the same, not before `resumes_at`
    keyring,   ///< `ask_keyring`, by whoever needs the response: it may prompt for a password
    nothing,   ///< `take_response`
  };

  /// The first two must outlive it, and `sink` (nullptr: the body is collected).
  HttpTransfer(const TransportOptions& options, CredentialStore& credentials, HttpRequest request,
               const BodySink* sink);

  [[nodiscard]] Next next() const { return next_; }
  [[nodiscard]] const HttpRequest& request() const { return request_; }
  /// The server of the next exchange (url_origin).
  [[nodiscard]] const std::string& server() const { return server_; }
  [[nodiscard]] Clock::time_point resumes_at() const { return resumes_at_; }

  /// The next exchange, for the module; valid until `end`.
  [[nodiscard]] const AxleCurlExchange& begin();
  /// The response's headers; says what is next.
  ResponseHead end(const AxleCurlOutcome& outcome);
  /// Ends the request: libcurl cannot begin an exchange.
  void give_up();
  void ask_keyring();
  /// In the response, when nothing is next.
  [[nodiscard]] std::size_t body_size() const {
    return response_ && *response_ ? (*response_)->body.size() + (*response_)->packed.bytes.size()
                                   : 0;
  }
  /// Decodes the body and prepares the response, once, when nothing is next: it takes long.
  void complete(const Preparation& prepare);
  /// 0: none, or none yet.
  [[nodiscard]] int status() const { return response_ && *response_ ? (*response_)->status : 0; }
  /// Once, when it is complete.
  [[nodiscard]] Result<HttpResponse> take_response() { return std::move(*response_); }

 private:
  void turn_to(std::string url);
  void settle(ExchangeResult result);
  /// Where a redirect leads. Error: not there.
  [[nodiscard]] Result<std::string> follow(const ResponseHead& head);
  void finish(Result<HttpResponse> response);

  const TransportOptions& options_;
  CredentialStore& credentials_;
  HttpRequest request_;
  const BodySink* sink_;

  std::string url_;
  std::string server_;
  Credential credential_;
  unsigned hops_ = 0;
  unsigned retries_ = 0;
  bool keyring_asked_ = false;            ///< about `url_`
  std::optional<ExchangeResult> denied_;  ///< the 401 that stands if the keyring does not help
  Clock::time_point resumes_at_;
  std::optional<Exchange> exchange_;
  Next next_ = Next::exchange;
  std::optional<Result<HttpResponse>> response_;
};

}  // namespace axle::index
