// libmicrohttpd's only user: listens, reads requests and sends answers.
#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "index/serve/server_api.h"

namespace {

struct Server {
  AxleServerOptions options;
  MHD_Daemon* daemon = nullptr;
};

const char* header_of(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? "" : value;
}

/// Paths are decoded by whoever answers.
size_t leave_escaped(void*, MHD_Connection*, char* text) { return std::strlen(text); }

MHD_Result send(MHD_Connection* connection, const AxleServerAnswer& answer) {
  MHD_Response* response =
      answer.file >= 0
          ? MHD_create_response_from_fd_at_offset64(answer.length, answer.file, answer.offset)
          : MHD_create_response_from_buffer(answer.body_bytes, const_cast<char*>(answer.body),
                                            MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) {
    if (answer.file >= 0) ::close(answer.file);
    return MHD_NO;
  }
  for (std::size_t i = 0; i < answer.header_count; ++i)
    MHD_add_response_header(response, answer.names[i], answer.values[i]);
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  const auto status = static_cast<unsigned>(answer.status);
  const MHD_Result sent = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return sent;
}

// NOLINTNEXTLINE(readability-function-size): libmicrohttpd's
MHD_Result handle(void* context, MHD_Connection* connection, const char* path, const char* method,
                  const char*, const char*, size_t* body_bytes, void** seen) {
  auto* server = static_cast<Server*>(context);
  // Once with the headers: what is answered there ends a connection that has a body to send.
  const bool has_body =
      MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length") != nullptr ||
      MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding") != nullptr;
  if (*seen == nullptr && !has_body) {
    *seen = server;
    return MHD_YES;
  }
  *body_bytes = 0;
  const AxleServerRequest request = {method,
                                     path,
                                     header_of(connection, "Accept"),
                                     header_of(connection, "Range"),
                                     header_of(connection, "If-Range"),
                                     header_of(connection, "If-None-Match")};
  AxleServerAnswer answer = {};
  answer.file = -1;
  server->options.answer(server->options.context, &request, &answer);
  return send(connection, answer);
}

bool fill_address(const AxleServerOptions& options, sockaddr_storage& address, socklen_t& size) {
  std::memset(&address, 0, sizeof address);
  auto* four = reinterpret_cast<sockaddr_in*>(&address);
  auto* six = reinterpret_cast<sockaddr_in6*>(&address);
  if (::inet_pton(AF_INET, options.address, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(options.port);
    size = sizeof *four;
    return true;
  }
  if (::inet_pton(AF_INET6, options.address, &six->sin6_addr) != 1) return false;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(options.port);
  size = sizeof *six;
  return true;
}

/// Negative: errno says why.
int listen_at(const sockaddr_storage& address, socklen_t size) {
  const int socket = ::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return -1;
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  constexpr int backlog = 128;
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
      ::listen(socket, backlog) == 0)
    return socket;
  const int number = errno;
  ::close(socket);
  errno = number;
  return -1;
}

std::uint16_t port_of(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

void* start(const AxleServerOptions* options, std::uint16_t* port, std::int32_t* error) {
  sockaddr_storage address = {};
  socklen_t size = 0;
  *error = 0;
  if (!fill_address(*options, address, size)) return nullptr;
  const int socket = listen_at(address, size);
  if (socket < 0) {
    *error = errno;
    return nullptr;
  }
  *port = port_of(socket);
  auto* server = new Server{*options};
  unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL;
  if (address.ss_family == AF_INET6) flags |= static_cast<unsigned>(MHD_USE_IPv6);
  // With a second thread, whoever waits for a disk does not hold up the others.
  server->daemon = MHD_start_daemon(
      flags, 0, nullptr, nullptr, handle, server, MHD_OPTION_LISTEN_SOCKET, socket,
      MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds, MHD_OPTION_CONNECTION_LIMIT,
      options->most_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      static_cast<size_t>(options->most_header_bytes), MHD_OPTION_THREAD_POOL_SIZE, 2U,
      MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, nullptr, MHD_OPTION_END);
  if (server->daemon != nullptr) return server;
  *error = errno == 0 ? EIO : errno;
  ::close(socket);
  delete server;
  return nullptr;
}

void stop(void* opaque) {
  auto* server = static_cast<Server*>(opaque);
  MHD_stop_daemon(server->daemon);
  delete server;
}

constexpr AxleServerApi api = {axle_server_api_version, start, stop};

}  // namespace

extern "C" [[gnu::visibility("default")]] const AxleServerApi* axle_server_api(
    std::uint32_t version) {
  return version == axle_server_api_version ? &api : nullptr;
}
