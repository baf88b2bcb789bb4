#pragma once
// The bytes of HTTP/1.1 on a socket, as far as the test server needs them.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/index_server.h"

namespace axle::test {

struct Answer {
  int status = 200;
  std::map<std::string, std::string> headers;
  std::string body;
};

/// One connection; `fd` belongs to the caller.
class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}
  /// nothing at the end of the connection or for what is not HTTP request.
  [[nodiscard]] std::optional<SeenRequest> receive();
  bool send_all(std::string_view bytes);
  /// Blocks until the client goes away.
  void wait_for_close();

 private:
  int fd_;
  std::string buffer_;
};

/// Status line and headers; Content-Length is added unless a header says how the body ends.
[[nodiscard]] std::string render_head(const Answer& answer);

[[nodiscard]] std::string gzip(std::string_view text);

}  // namespace axle::test
