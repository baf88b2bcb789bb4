#pragma once
// The interface to the network. Its only HTTP implementation is libcurl's, in a separate module
// that is opened on first use (index/http/curl_module.cpp): linking libcurl would cost 4 ms at
// start-up.

#include <any>
#include <cstdint>
#include <functional>
#include <map>
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

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// Where a caller may keep a form of its own of a cached body, beside it.
struct FormPlace {
  std::string path;      ///< empty: there is no cached body
  std::string identity;  ///< of the body, its URL and its type: 64 hexadecimal digits
  std::string head;      ///< stands before the form in its file: with it the cache answers alone
  std::int64_t confirmed_at = 0;  ///< seconds since 1970 when the server last confirmed the body
};

/// A form that was kept: `offset` bytes from the beginning of its file.
struct KeptForm {
  std::string path;
  std::string identity;  ///< FormPlace::identity of the body that it was made of
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string_view begin;  ///< its first bytes, or all of it
};

/// What a request is beyond a GET: with a method, headers and a body of its own, as a storage takes
/// files. Only its own server gets it: redirects are not followed, and no login of the transport is
/// added.
struct HttpCall {
  std::string method = "GET";
  /// "Name: value", asked for before each exchange: a signature has a time.
  std::function<std::vector<std::string>()> headers;
  bool has_body = false;
  std::uint64_t body_size = 0;
  /// The body from `offset` on, all of `part`. Called by the transport's thread. False: it cannot
  /// be read.
  std::function<bool(std::uint64_t offset, std::span<std::byte> part)> read_body;
  unsigned patience_seconds = 0;  ///< the answer may take so long, even if the time limit is less
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
  std::shared_ptr<const HttpCall> call = nullptr;  ///< nullptr: a GET

  friend bool operator==(const HttpRequest&, const HttpRequest&) = default;
};

/// A body as it came, where that was compressed.
struct PackedBody {
  std::string coding;  ///< Content-Encoding
  std::string bytes;   ///< empty: it was not compressed
};

struct HttpResponse {
  int status = 0;   ///< HTTP status; file URLs answer 200, 206 or 404
  std::string url;  ///< after redirects
  std::string content_type;
  std::string etag;
  std::string last_modified;
  std::string cache_control;
  std::uint64_t age_seconds = 0;                     ///< age in caches on the way
  std::optional<std::uint64_t> retry_after_seconds;  ///< the pause that a busy server asks for
  std::optional<std::uint64_t> total_size;           ///< from Content-Range or Content-Length
  std::string body;  ///< decoded (gzip, deflate); empty if the status is not 2xx, but for a call
  /// To a call: what its server says in headers "x-amz-…", "lock-token" and "location"; names in
  /// lower case.
  std::map<std::string, std::string, std::less<>> said = {};
  PackedBody packed;  ///< the same, for caches
  FormPlace copy;     ///< in a cache, of a body with the sha256 of the request
  bool has_form =
      false;            ///< the request's `has_form` said so, and this is the body: it is left out
  bool reused = false;  ///< the body was in a cache before it was asked for
  bool prepared = false;  ///< a Preparation has seen it
  std::any made;          ///< by the Preparation, instead of the body perhaps
};

/// Whether a caller can use this form that it kept of the body. It may be asked before it is known
/// whether the answer is still valid: what it says counts if the response repeats it.
using HasForm = std::function<bool(const KeptForm&)>;

/// Called once with the answer to a request sent ahead, when that has come and before anybody gets
/// it, and in any thread: what takes long is done while others wait. Errors are not prepared.
using Preparation = std::function<void(HttpResponse&)>;

/// Called with the bytes as they arrive; an error from it ends the transfer.
using BodySink = std::function<Result<void>(std::span<const std::byte>)>;

/// All functions may be called from several threads at once.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Whole body in memory. Any HTTP status is an HttpResponse; io errors contain the URL without
  /// credentials, and what to do. Retries transient failures (connection, 429, 5xx) with back-off.
  [[nodiscard]] virtual Result<HttpResponse> fetch(const HttpRequest& request) = 0;
  /// A hint: `fetch` will probably be called with `request`. It is sent at once, beside others, and
  /// the next `fetch` of an equal request gets its answer or error, which nobody else learns of.
  /// What is never fetched is dropped and does not delay the end of the transport. A part of a file
  /// is only requested ahead from a server that has given one before. A transport may disregard
  /// all this, or only `prepare`.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): whoever overrides it keeps it
  virtual void prefetch(const HttpRequest& /*request*/, Preparation /*prepare*/) {}
  void prefetch(const HttpRequest& request) { prefetch(request, nullptr); }
  /// `fetch` gives a file without waiting: it was sent ahead and has come, or is in a cache.
  [[nodiscard]] virtual bool has_arrived([[maybe_unused]] const HttpRequest& request) {
    return false;
  }
  /// The same, but a cache leaves out a body if `has_form` says that it can use the form that was
  /// kept of it, and says that it did (HttpResponse::has_form).
  [[nodiscard]] virtual Result<HttpResponse> fetch_or_form(
      const HttpRequest& request, [[maybe_unused]] const HasForm& has_form) {
    return fetch(request);
  }
  /// The hint where a form will do. True: `has_form` has one of the answer that a cache would give
  /// now, so nothing was sent.
  virtual bool prefetch_or_form(const HttpRequest& request,
                                [[maybe_unused]] const HasForm& has_form, Preparation prepare) {
    prefetch(request, std::move(prepare));
    return false;
  }
  /// Body streamed to `sink`; `body` of the response stays empty. Not retried once the sink has
  /// received data.
  /// Bytes as they are on the server, not decoded.
  [[nodiscard]] virtual Result<HttpResponse> download(const HttpRequest& request,
                                                      const BodySink& sink) = 0;
  /// `file` has the whole body of a download whose answer was `response`, for the next `download`
  /// of `url`.
  virtual void keep_download([[maybe_unused]] const std::string& url,
                             [[maybe_unused]] const HttpResponse& response,
                             [[maybe_unused]] int file) {}
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
  /// Keeps a caller's form of a cached body at its place, for later calls of `fetch_or_form`.
  /// False: it was not kept.
  virtual bool keep_form([[maybe_unused]] const FormPlace& copy,
                         [[maybe_unused]] std::string_view bytes) {
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
  /// Passed explicitly; libcurl does not read SSL_CERT_FILE itself. Without both, the system's are
  /// searched: foundation/system/system_certificates.h.
  std::string ca_file;
  std::string ca_folder;  ///< of certificates by their hash, as in SSL_CERT_DIR
  std::string
      client_cert;  ///< PEM file with a certificate and its key, for servers that ask for one
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

/// File URLs are answered here; http and https are passed to the curl module.
[[nodiscard]] std::unique_ptr<Transport> make_transport(TransportOptions options);

}  // namespace axle::index
