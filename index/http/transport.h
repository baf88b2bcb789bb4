#pragma once
// The interface to the network. Its only HTTP implementation is libcurl's, in a separate module
// that is opened on first use (index/http/curl_module.cpp): linking libcurl would cost 4 ms at
// start-up.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::index {

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct HttpRequest {
  std::string url;  ///< http, https or file; credentials in it are used and never shown
  std::string accept;
  std::string etag;           ///< If-None-Match, if not empty
  std::string last_modified;  ///< If-Modified-Since, if not empty
  /// Ranges answer with 206 and exactly these bytes (clipped to the end), or with 200 and no body
  /// if the server does not support ranges. A 206 with anything else is an error: unsupported.
  std::optional<ByteRange> range;
  std::optional<std::uint64_t> tail;  ///< instead of `range`: the last bytes, this many at most
  /// Identifies the content permanently, if known: a cache that has it sends no request.
  std::string sha256;
  bool refresh = false;                  ///< caches on the way should revalidate with the server
  std::uint64_t max_bytes = 1ULL << 30;  ///< a longer body is an error
};

struct HttpResponse {
  int status = 0;   ///< HTTP status; file URLs answer 200, 206 or 404
  std::string url;  ///< after redirects
  std::string content_type;
  std::string etag;
  std::string last_modified;
  std::string cache_control;
  std::uint64_t age_seconds = 0;            ///< age in caches on the way
  std::optional<std::uint64_t> total_size;  ///< from Content-Range or Content-Length
  std::string body;  ///< decoded (gzip, deflate); empty if the status is not 2xx
};

/// Called with the bytes as they arrive; an error from it ends the transfer.
using BodySink = std::function<Result<void>(std::span<const std::byte>)>;

/// All functions may be called from several threads at once.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Whole body in memory. Any HTTP status is an HttpResponse; io errors contain the URL without
  /// credentials, and what to do. Retries transient failures (connection, 429, 5xx) with back-off.
  [[nodiscard]] virtual Result<HttpResponse> fetch(const HttpRequest& request) = 0;
  /// Body streamed to `sink`; `body` of the response stays empty. Not retried once the sink has
  /// received data.
  /// Bytes as they are on the server, not decoded.
  [[nodiscard]] virtual Result<HttpResponse> download(const HttpRequest& request,
                                                      const BodySink& sink) = 0;
  /// Small texts that were read out of a file whose URL and sha256 identify it permanently, such as
  /// a wheel's METADATA, and the data of first downloads: a caching transport returns them. `keep`
  /// is false if nothing was stored. Error: io (an entry exists but cannot be read now: callers
  /// that must not lose it do not replace it).
  virtual Result<std::optional<std::string>> recall([[maybe_unused]] std::string_view key) {
    return std::nullopt;
  }
  virtual bool keep([[maybe_unused]] std::string_view key, [[maybe_unused]] std::string_view text) {
    return false;
  }
  /// `url` is http(s) with user name and password: later requests to its server without credentials
  /// use them, preferably those below its path. Links of a page then need not repeat them.
  virtual void remember_credentials([[maybe_unused]] std::string_view url) {}
};

/// An entry of a netrc file.
struct NetrcEntry {
  std::string machine;  ///< host name; empty: of `default`
  std::string login;
  std::string password;
};

enum class Authenticate : std::uint8_t { when_known, always, never };

/// The authentication setting of one index (uv's `authenticate`); applies below its URL.
struct IndexLogin {
  std::string url;
  Authenticate authenticate = Authenticate::when_known;
};

/// The password of `user` at `service`, a URL or a host; nullopt if there is none. Errors end the
/// request.
using PasswordSource = std::function<Result<std::optional<std::string>>(const std::string& service,
                                                                        const std::string& user)>;

struct TransportOptions {
  std::string ca_file;      ///< passed explicitly; libcurl does not read SSL_CERT_FILE itself
  std::string http_proxy;   ///< for http URLs; "" none. libcurl's own use of *_proxy is disabled
  std::string https_proxy;  ///< for https URLs
  std::string no_proxy;     ///< hosts that are contacted directly, separated by commas
  unsigned timeout_seconds = 15;          ///< connect, and stall: no byte for this long
  unsigned slow_bytes_per_second = 1000;  ///< a slower transfer ends after `slow_seconds`
  unsigned slow_seconds = 30;
  unsigned retries = 3;
  unsigned retry_pause_ms = 250;  ///< before the first retry, doubled for each further one
  std::vector<std::string>
      trusted_hosts;  ///< hosts whose certificate is not checked (pip --trusted-host)
  std::vector<NetrcEntry> netrc;
  std::vector<IndexLogin> logins;
  PasswordSource keyring;  ///< called if a server answered 401 and a user name is known; or empty
  std::string user_agent;
  bool offline = false;  ///< every http(s) request fails with io and an explanation
};

/// answered here; http and https are passed to the curl module.
[[nodiscard]] std::unique_ptr<Transport> make_transport(TransportOptions options);

}  // namespace axle::index
