#include "index/http/http_exchange.h"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/system/system_certificates.h"
#include "index/http/content_coding.h"
#include "index/http/redaction.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

std::string render_seconds(unsigned seconds) {
  return fmt::format("{} second{}", seconds, seconds == 1 ? "" : "s");
}

constexpr std::size_t max_header_bytes = 256U << 10;
/// For an error page or redirect that is not used; beyond this the connection is dropped instead.
constexpr std::uint64_t max_discarded_bytes = 1U << 20;
/// Of the error that a storage gives; what is longer is none.
constexpr std::uint64_t max_error_bytes = 16U << 10;
/// A smaller body goes out at once: how long the answer takes is the server's affair then.
constexpr std::uint64_t min_watched_body = 1U << 20;

/// The file with the certificates of trusted authorities; nullptr: there is none.
const char* authorities(const TransportOptions& options) {
  if (!options.ca_file.empty()) return options.ca_file.c_str();
  if (!options.ca_folder.empty()) return nullptr;
  static const std::string of_system = system::find_certificates(system::known_certificate_files());
  return of_system.empty() ? nullptr : of_system.c_str();
}

Error transfer_error(const AxleCurlOutcome& outcome, const std::string& url,
                     const TransportOptions& options) {
  const auto say = [&](std::string_view what, std::string hint) {
    return Error{ErrorKind::io,
                 fmt::format("{}: {} ({})", redact_url(url), what, redact_url(outcome.reason)),
                 std::move(hint)};
  };
  const auto ended = [&](std::string what, std::string hint) {
    return Error{ErrorKind::io, fmt::format("{}: {}", redact_url(url), what), std::move(hint)};
  };
  switch (outcome.end) {
    case axle_curl_resolve:
      return say("unknown host", "check the spelling of the URL and the network connection");
    case axle_curl_connect:
      return say("cannot connect",
                 "check the URL and whether the server is running, or set a proxy");
    case axle_curl_proxy:
      return say("the proxy does not work", "check the proxy setting");
    case axle_curl_timeout:
      return ended(fmt::format("no response for {}", render_seconds(options.timeout_seconds)),
                   "try again, or allow more time with --timeout");
    case axle_curl_slow:
      return ended(fmt::format("the transfer was aborted: less than {} bytes per second for {}",
                               options.slow_bytes_per_second, render_seconds(options.slow_seconds)),
                   "try again later, or use another index or mirror");
    case axle_curl_tls:
      return say("cannot establish a secure connection",
                 "the server may not speak TLS 1.2 or later");
    case axle_curl_certificate:
      return say("its certificate is not trusted",
                 "set SSL_CERT_FILE to the authority's certificate file");
    case axle_curl_ca_file:
      return say("the certificate file cannot be read",
                 "check --cert, REQUESTS_CA_BUNDLE and SSL_CERT_FILE, one of which may specify it");
    case axle_curl_client_cert:
      return say("the client certificate cannot be used",
                 "--client-cert, PIP_CLIENT_CERT or SSL_CLIENT_CERT names a PEM file with a "
                 "certificate and its key");
    case axle_curl_broken:
      return say("the connection was interrupted", "try again");
    case axle_curl_bad_url:
      return say("no answer in HTTP, or an unsupported URL", "check the URL and its server");
    default:
      return say("the transfer failed", "try again");
  }
}

bool is_transient_end(AxleCurlEnd end) {
  return end == axle_curl_resolve || end == axle_curl_connect || end == axle_curl_timeout ||
         end == axle_curl_broken;
}

/// Of a file that is downloaded. With libcurl's 16 KiB, torch's wheel took 33,000 receives and as
/// many waits; now 1,200.
constexpr long file_buffer_bytes = 512L << 10;

std::vector<std::string> request_headers(const HttpRequest& request, bool decodes) {
  std::vector<std::string> headers;
  if (decodes) headers.push_back(fmt::format("Accept-Encoding: {}", accepted_codings));
  if (!request.accept.empty()) headers.push_back("Accept: " + request.accept);
  if (!request.etag.empty()) headers.push_back("If-None-Match: " + request.etag);
  if (!request.last_modified.empty()) {
    headers.push_back("If-Modified-Since: " + request.last_modified);
  }
  if (request.refresh) headers.emplace_back("Cache-Control: max-age=0");
  if (std::string range = range_header(request); !range.empty())
    headers.push_back(std::move(range));
  if (request.call != nullptr && request.call->headers) {
    for (std::string& line : request.call->headers()) headers.push_back(std::move(line));
  }
  return headers;
}

}  // namespace

/// Receives one response from the module's callbacks.
class Exchange::Receiver {
 public:
  Receiver(const HttpRequest& request, const BodySink* sink) : request_(request), sink_(sink) {}

  // Exceptions must not propagate through the module.
  bool header(std::string_view line) noexcept try {
    header_bytes_ += line.size();
    if (header_bytes_ > max_header_bytes) {
      return refuse({ErrorKind::io, redact_url(request_.url) + " sends too many headers"});
    }
    head_.add_line(line);
    return true;
  } catch (const std::exception& error) {
    return refuse_exception(error);
  }

  bool body(std::string_view bytes) noexcept try {
    if (!begun_ && !begin_body()) return false;
    received_ += bytes.size();
    if (discard_ && request_.call != nullptr) {
      collected_ +=
          bytes.substr(0, max_error_bytes - std::min(max_error_bytes, received_ - bytes.size()));
    }
    if (discard_) return received_ <= max_discarded_bytes;
    if (received_ > allowed_) return refuse(too_long());
    if (sink_ == nullptr) {
      collected_ += bytes;
      return true;
    }
    given_ = true;
    Result<void> taken = (*sink_)(std::as_bytes(std::span(bytes)));
    return taken ? true : refuse(std::move(taken.error()));
  } catch (const std::exception& error) {
    return refuse_exception(error);
  }

  /// A 206 without a body must be checked too.
  void end_of_transfer() {
    if (!begun_) begin_body();
    if (!refusal_ && !discard_ && head_.status == 206 && received_ != allowed_) {
      refuse(
          {ErrorKind::unsupported,
           fmt::format("the server sent {} bytes of {} but announced {}", received_,
                       redact_url(request_.url), allowed_),
           "the server's byte ranges are broken; report it to its operator, or use another index"});
    }
  }

  [[nodiscard]] const ResponseHead& head() const { return head_; }
  [[nodiscard]] std::optional<Error> take_refusal() {
    return std::exchange(refusal_, std::nullopt);
  }
  /// The rest of the body was not needed; the response is valid.
  [[nodiscard]] bool satisfied() const { return discard_; }
  [[nodiscard]] bool given() const { return given_; }

  [[nodiscard]] HttpResponse take_response(std::string url) {
    HttpResponse response;
    response.status = head_.status;
    response.url = std::move(url);
    response.content_type = head_.content_type;
    response.etag = head_.etag;
    response.last_modified = head_.last_modified;
    response.cache_control = head_.cache_control;
    response.age_seconds = head_.age_seconds;
    if (head_.status == 206) {
      if (const auto range = parse_content_range(head_.content_range)) {
        response.total_size = range->total;
      }
    } else if (head_.content_encoding.empty()) {
      response.total_size = head_.content_length;
    }
    if (request_.call != nullptr) {
      response.said = head_.of_storage;
      if (!head_.location.empty()) response.said.insert_or_assign("location", head_.location);
    }
    const bool coded = !head_.content_encoding.empty() && head_.content_encoding != "identity";
    if (decodes() && coded && !collected_.empty()) {
      response.packed = {head_.content_encoding, std::move(collected_)};
    } else {
      response.body = std::move(collected_);
    }
    return response;
  }

  /// Archives are hashed and read in ranges as stored on the server.
  [[nodiscard]] bool decodes() const {
    return sink_ == nullptr && !request_.range && !request_.tail && request_.call == nullptr;
  }

 private:
  bool begin_body() {
    begun_ = true;
    const bool asked_for_part = request_.range || request_.tail;
    if (head_.status == 206) {
      Result<std::uint64_t> length = check_partial(request_, head_);
      if (!length) return refuse(std::move(length.error()));
      allowed_ = *length;
    } else {
      discard_ = head_.status < 200 || head_.status > 299;
      allowed_ = request_.max_bytes;
      if (!discard_ && asked_for_part) {
        discard_ = true;
        return false;
      }
    }
    if (!discard_ && head_.content_length.value_or(0) > request_.max_bytes) {
      return refuse(too_long());
    }
    return true;
  }

  [[nodiscard]] Error too_long() const {
    return {head_.status == 206 ? ErrorKind::unsupported : ErrorKind::io,
            fmt::format("{} sends more than the {} bytes allowed here", redact_url(request_.url),
                        std::min(allowed_, request_.max_bytes)),
            "this is not the file that was expected; check the index URL"};
  }

  bool refuse(Error error) {
    refusal_ = std::move(error);
    return false;
  }

  bool refuse_exception(const std::exception& error) {
    return refuse({ErrorKind::io, redact_url(request_.url) + ": " + error.what()});
  }

  const HttpRequest& request_;
  const BodySink* sink_;
  ResponseHead head_;
  std::string collected_;
  std::optional<Error> refusal_;
  std::uint64_t allowed_ = 0;
  std::uint64_t received_ = 0;
  std::size_t header_bytes_ = 0;
  bool begun_ = false;
  bool discard_ = false;
  bool given_ = false;
};

Exchange::Exchange(const TransportOptions& options, const HttpRequest& request,
                   ExchangeTarget target, const BodySink* sink)
    : options_(options),
      request_(request),
      target_(std::move(target)),
      receiver_(std::make_unique<Receiver>(request, sink)),
      headers_(request_headers(request, receiver_->decodes())) {
  for (const std::string& line : headers_) header_lines_.push_back(line.c_str());
  const bool anonymous = target_.user.empty() && target_.password.empty();
  call_.url = target_.url.c_str();
  call_.body_bytes = -1;
  call_.user = anonymous ? nullptr : target_.user.c_str();
  call_.password = target_.password.c_str();
  call_.headers = header_lines_.data();
  call_.header_count = header_lines_.size();
  call_.user_agent = options.user_agent.c_str();
  call_.ca_file = authorities(options);
  call_.ca_folder = options.ca_folder.empty() ? nullptr : options.ca_folder.c_str();
  call_.client_cert = options.client_cert.empty() ? nullptr : options.client_cert.c_str();
  const bool encrypted = target_.url.starts_with("https:");
  call_.proxy = (encrypted ? options.https_proxy : options.http_proxy).c_str();
  call_.no_proxy = options.no_proxy.c_str();
  call_.check_certificate = is_trusted_host(target_.url, options.trusted_hosts) ? 0 : 1;
  call_.timeout_seconds = static_cast<long>(std::max(options.timeout_seconds, 1U));
  call_.connect_seconds = call_.timeout_seconds;
  call_.slow_bytes_per_second = static_cast<long>(options.slow_bytes_per_second);
  call_.slow_seconds = static_cast<long>(options.slow_seconds);
  call_.buffer_bytes = sink == nullptr ? 0 : file_buffer_bytes;
  call_.context = this;
  if (request_.call != nullptr) prepare_call(*request_.call);
  call_.on_header = [](void* context, const char* line, std::size_t size) {
    return static_cast<Exchange*>(context)->receiver_->header({line, size}) ? 0 : 1;
  };
  call_.on_body = [](void* context, const char* bytes, std::size_t size) {
    return static_cast<Exchange*>(context)->receiver_->body({bytes, size}) ? 0 : 1;
  };
}

void Exchange::prepare_call(const HttpCall& call) {
  call_.method = call.method.c_str();
  if (call.has_body) {
    call_.body_bytes = static_cast<std::int64_t>(call.body_size);
    call_.read_body = [](void* context, std::int64_t offset, char* part, std::size_t size) {
      return static_cast<Exchange*>(context)->read_body(static_cast<std::uint64_t>(offset),
                                                        {part, size});
    };
  }
  call_.timeout_seconds = std::max(call_.timeout_seconds, static_cast<long>(call.patience_seconds));
  if (call.body_size < min_watched_body) call_.slow_bytes_per_second = 0;
}

std::int32_t Exchange::read_body(std::uint64_t offset, std::span<char> part) noexcept try {
  if (request_.call->read_body(offset, std::as_writable_bytes(part))) return 0;
  body_failed_ = true;
  return 1;
} catch (const std::exception&) {  // must not propagate through the module
  body_failed_ = true;
  return 1;
}

Exchange::~Exchange() = default;

ExchangeResult Exchange::finish(const AxleCurlOutcome& outcome) {
  Receiver& receiver = *receiver_;
  if (outcome.end == axle_curl_done) receiver.end_of_transfer();
  ExchangeResult result{HttpResponse{}, receiver.head(), false, receiver.given()};
  if (body_failed_) {
    result.response =
        fail(ErrorKind::io,
             fmt::format("{}: what is sent there cannot be read", redact_url(target_.url)),
             "another program may have changed the file: run the command again");
  } else if (std::optional<Error> refusal = receiver.take_refusal()) {
    result.response = std::unexpected(std::move(*refusal));
  } else if (outcome.end == axle_curl_done || receiver.satisfied()) {
    result.transient = is_transient_status(receiver.head().status);
    result.response = receiver.take_response(target_.url);
  } else {
    result.transient = is_transient_end(outcome.end);
    result.response = std::unexpected(transfer_error(outcome, target_.url, options_));
  }
  return result;
}

}  // namespace axle::index
