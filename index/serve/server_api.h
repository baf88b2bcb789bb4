#pragma once
// The C interface of the module that contains libmicrohttpd. Only plain data is passed. The module
// reads requests and sends answers; what an answer is, it asks.

#include <cstddef>
#include <cstdint>

extern "C" {

inline constexpr std::uint32_t axle_server_api_version = 1;

struct AxleServerRequest {
  const char* method;
  const char* path;    ///< as it was sent, without the query
  const char* accept;  ///< never nullptr, like what follows; "" if there is none
  const char* range;
  const char* if_range;
  const char* if_none_match;
};

/// Copied before another request is passed by the same thread.
struct AxleServerAnswer {
  std::int32_t status;
  const char* const* names;  ///< of headers
  const char* const* values;
  std::size_t header_count;
  const char* body;
  std::size_t body_bytes;
  std::int32_t file;  ///< instead of `body`; the module closes it; negative: none
  std::uint64_t offset;
  std::uint64_t length;
};

struct AxleServerOptions {
  const char* address;         ///< in digits, IPv4 or IPv6
  std::uint16_t port;          ///< 0: a free one
  std::uint32_t idle_seconds;  ///< then a connection ends
  std::uint32_t most_connections;
  std::uint32_t most_header_bytes;
  void* context;
  /// By several threads.
  void (*answer)(void* context, const AxleServerRequest* request, AxleServerAnswer* answer);
};

struct AxleServerApi {
  std::uint32_t version;
  /// nullptr: it does not listen; `error` is an errno, or 0 for an address that is none. `port`:
  /// the one that it has.
  void* (*start)(const AxleServerOptions* options, std::uint16_t* port, std::int32_t* error);
  void (*stop)(void* server);
};

using AxleServerFactory = const AxleServerApi* (*)(std::uint32_t version);
}

inline constexpr const char* axle_server_factory_name = "axle_server_api";
