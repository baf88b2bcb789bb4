#pragma once
// The C interface of the module that holds libcurl. Nothing but plain data crosses it, so that
// module and program may each carry their own C++ runtime. The module performs one exchange and
// decides nothing: redirects, retries, ranges, limits and credentials are http_transport.cpp's,
// compressed bodies content_coding.h's.

#include <cstddef>
#include <cstdint>

extern "C" {

inline constexpr std::uint32_t axle_curl_api_version = 3;

enum AxleCurlEnd : std::int32_t {
  axle_curl_done = 0,
  axle_curl_stopped,      ///< a callback returned nonzero
  axle_curl_resolve,      ///< host name unknown
  axle_curl_connect,      ///< nobody listens
  axle_curl_proxy,        ///< proxy unknown or unreachable
  axle_curl_timeout,      ///< connect or stall limit
  axle_curl_slow,         ///< below `slow_bytes_per_second` for `slow_seconds`
  axle_curl_tls,          ///< handshake failed
  axle_curl_certificate,  ///< certificate not trusted
  axle_curl_ca_file,      ///< `ca_file` cannot be read
  axle_curl_broken,       ///< connection ended early
  axle_curl_bad_url,
  axle_curl_other,
};

struct AxleCurlExchange {
  const char* url;             ///< http or https, without credentials
  const char* user;            ///< nullptr: no credentials
  const char* password;        ///< never nullptr when `user` is not
  const char* const* headers;  ///< "Name: value"
  std::size_t header_count;
  const char* user_agent;
  const char* ca_file;   ///< nullptr: the system's
  const char* proxy;     ///< "" none
  const char* no_proxy;  ///< "" none
  std::int32_t check_certificate;
  long timeout_seconds;  ///< to connect, and without a byte of the body
  long slow_bytes_per_second;
  long slow_seconds;
  void* context;
  /// One header line without its line end; a status line begins a new response. Nonzero stops.
  std::int32_t (*on_header)(void* context, const char* line, std::size_t size);
  /// Nonzero stops.
  std::int32_t (*on_body)(void* context, const char* bytes, std::size_t size);
};

struct AxleCurlOutcome {
  AxleCurlEnd end;
  char reason[256];  ///< libcurl's words
};

struct AxleCurlApi {
  std::uint32_t version;
  /// One connection pool; used by one thread at a time. nullptr when memory is short.
  void* (*open)();
  void (*close)(void* handle);
  void (*perform)(void* handle, const AxleCurlExchange* exchange, AxleCurlOutcome* outcome);
};

/// nullptr when the module does not speak `version`.
using AxleCurlFactory = const AxleCurlApi* (*)(std::uint32_t version);
inline constexpr const char* axle_curl_factory_name = "axle_curl_api";

}  // extern "C"
