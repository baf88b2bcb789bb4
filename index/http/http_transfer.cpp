#include "index/http/http_transfer.h"

#include <ctime>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "index/http/content_coding.h"
#include "index/http/redaction.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

constexpr unsigned max_redirects = 10;

}  // namespace

HttpTransfer::HttpTransfer(const TransportOptions& options, CredentialStore& credentials,
                           HttpRequest request, const BodySink* sink)
    : options_(options), credentials_(credentials), request_(std::move(request)), sink_(sink) {
  turn_to(std::string(without_fragment(request_.url)));
}

void HttpTransfer::turn_to(std::string url) {
  url_ = std::move(url);
  server_ = url_origin(url_);
  keyring_asked_ = false;
  next_ = Next::exchange;
  if (request_.call != nullptr) return;  // what it needs is in its own headers
  credential_ = credentials_.find(url_);
  if (!credential_.empty() || credentials_.policy(url_) != Authenticate::always) return;
  finish(std::unexpected(Error{
      ErrorKind::io,
      fmt::format("no user name and password for {}, whose index has `authenticate = \"always\"`",
                  redact_url(url_)),
      "set them in the index URL, in UV_INDEX_<NAME>_USERNAME and _PASSWORD, or in a netrc "
      "file"}));
}

const AxleCurlExchange& HttpTransfer::begin() {
  exchange_.emplace(
      options_, request_,
      ExchangeTarget{without_credentials(url_), credential_.user, credential_.password}, sink_);
  return exchange_->call();
}

ResponseHead HttpTransfer::end(const AxleCurlOutcome& outcome) {
  ExchangeResult result = exchange_->finish(outcome);
  exchange_.reset();
  ResponseHead head = result.head;
  const bool may_log_in = request_.call == nullptr && !keyring_asked_;
  if (result.response && result.response->status == 401 && may_log_in) {
    denied_.emplace(std::move(result));
    next_ = Next::keyring;
  } else {
    settle(std::move(result));
  }
  return head;
}

void HttpTransfer::ask_keyring() {
  keyring_asked_ = true;
  auto asked = credentials_.ask_keyring(url_);
  if (!asked) return finish(std::unexpected(std::move(asked).error()));
  if (!*asked || (*asked)->password == credential_.password) return settle(std::move(*denied_));
  credential_ = std::move(**asked);
  next_ = Next::exchange;
}

void HttpTransfer::settle(ExchangeResult result) {
  if (result.response && result.head.is_redirect() && request_.call == nullptr) {
    Result<std::string> target = follow(result.head);
    if (!target) return finish(std::unexpected(std::move(target).error()));
    ++hops_;
    return turn_to(std::move(*target));
  }
  if (!result.transient || result.bytes_given || retries_ == options_.retries)
    return finish(std::move(result.response));
  const auto wanted = result.head.seconds_to_wait(std::time(nullptr));
  if (result.response && exceeds_pauses(wanted, options_.retries)) {
    result.response->retry_after_seconds = wanted;
    return finish(std::move(result.response));
  }
  resumes_at_ = Clock::now() +
                retry_pause(retries_, std::chrono::milliseconds(options_.retry_pause_ms), wanted);
  ++retries_;
  hops_ = 0;
  turn_to(std::string(without_fragment(request_.url)));
  if (next_ == Next::exchange) next_ = Next::pause;
}

Result<std::string> HttpTransfer::follow(const ResponseHead& head) {
  Result<std::string> target = next_hop(url_, head.location);
  if (!target) return target;
  if (hops_ == max_redirects) {
    return fail(ErrorKind::io, fmt::format("{} redirects more than {} times",
                                           redact_url(request_.url), max_redirects));
  }
  // The request's own user name and password are only sent to its own server.
  if (const Credential own = url_credential(request_.url);
      !own.empty() && url_origin(*target) == url_origin(request_.url)) {
    target = with_credential(*target, request_.url);
  }
  return target;
}

void HttpTransfer::give_up() {
  exchange_.reset();
  finish(fail(ErrorKind::io, "libcurl cannot start a transfer"));
}

void HttpTransfer::complete(const Preparation& prepare) {
  Result<HttpResponse>& response = *response_;
  if (!response) return;
  if (const PackedBody& packed = response->packed; !packed.bytes.empty()) {
    Result<std::string> body =
        decode_body(packed.bytes, packed.coding, request_.max_bytes, redact_url(request_.url));
    if (!body) return finish(std::unexpected(std::move(body).error()));
    response->body = std::move(*body);
  }
  if (!prepare) return;
  try {
    prepare(*response);
  } catch (const std::exception& error) {
    finish(fail(ErrorKind::io, redact_url(request_.url) + ": " + error.what()));
  }
}

void HttpTransfer::finish(Result<HttpResponse> response) {
  response_.emplace(std::move(response));
  next_ = Next::nothing;
}

}  // namespace axle::index
