#pragma once
// The C interface of the module that contains libcurl. Only plain data is passed, so that module
// and program may have different C++ runtimes. The module performs exchanges, many at once, and
// makes no decisions: redirects, retries and credentials are in http_transfer.cpp, ranges and
// limits in http_exchange.cpp, compressed bodies in content_coding.h.

#include <cstddef>
#include <cstdint>

extern "C" {

inline constexpr std::uint32_t axle_curl_api_version = 8;

enum AxleCurlEnd : std::int32_t {
  axle_curl_done = 0,
  axle_curl_stopped,      ///< a callback returned nonzero
  axle_curl_resolve,      ///< host name unknown
  axle_curl_connect,      ///< connection refused
  axle_curl_proxy,        ///< proxy unknown or unreachable
  axle_curl_timeout,      ///< connect or stall limit
  axle_curl_slow,         ///< below `slow_bytes_per_second` for `slow_seconds`
  axle_curl_tls,          ///< handshake failed
  axle_curl_certificate,  ///< certificate not trusted
  axle_curl_ca_file,      ///< `ca_file` cannot be read
  axle_curl_client_cert,  ///< `client_cert` cannot be read, or has no key that fits
  axle_curl_broken,       ///< connection ended early
  axle_curl_bad_url,
  axle_curl_other,
};

struct AxleCurlExchange {
  const char* url;             ///< http or https, without credentials
  const char* method;          ///< nullptr: GET
  std::int64_t body_bytes;     ///< of what is sent; negative: nothing is
  const char* user;            ///< nullptr: no credentials
  const char* password;        ///< never nullptr if `user` is not
  const char* const* headers;  ///< "Name: value"
  std::size_t header_count;
  const char* user_agent;
  const char* ca_file;      ///< nullptr: none
  const char* ca_folder;    ///< of certificates by hash; nullptr: none
  const char* client_cert;  ///< PEM, with its key; nullptr: none
  const char* proxy;        ///< "" none
  const char* no_proxy;     ///< "" none
  std::int32_t check_certificate;
  long connect_seconds;
  long timeout_seconds;  ///< without a byte of the body, in either direction
  long slow_bytes_per_second;
  long slow_seconds;
  long buffer_bytes;  ///< of the body at once, at most; 0: libcurl's choice
  void* context;
  /// One header line without its line end; a status line begins a new response. Nonzero stops.
  std::int32_t (*on_header)(void* context, const char* line, std::size_t size);
  /// Fills `part` with what is sent from `offset` on, within `body_bytes`. Nonzero stops.
  std::int32_t (*read_body)(void* context, std::int64_t offset, char* part, std::size_t size);
  /// Nonzero stops.
  std::int32_t (*on_body)(void* context, const char* bytes, std::size_t size);
};

struct AxleCurlOutcome {
  AxleCurlEnd end;
  char reason[256];  ///< libcurl's message
};

struct AxleCurlApi {
  std::uint32_t version;
  /// Exchanges that share connections: at most `host_connections` to one server, and
  /// `all_connections`. Used by one thread, except for `wake`. nullptr if memory is short.
  void* (*open)(long host_connections, long all_connections);
  /// Also ends exchanges that are not done.
  void (*close)(void* pool);
  /// `exchange`, with all that it points to, must live until it is done. Nonzero: memory is short.
  std::int32_t (*begin)(void* pool, const AxleCurlExchange* exchange);
  /// Transfers until an exchange is done, `wake` is called or the time is over; may return early.
  void (*run)(void* pool, std::int32_t milliseconds);
  /// An exchange that is done, each once; nullptr: there is none.
  const AxleCurlExchange* (*take_done)(void* pool, AxleCurlOutcome* outcome);
  /// Makes `run` return. By any thread.
  void (*wake)(void* pool);
};

/// nullptr if the module does not support `version`.
using AxleCurlFactory = const AxleCurlApi* (*)(std::uint32_t version);
inline constexpr const char* axle_curl_factory_name = "axle_curl_api";

}  // extern "C"
