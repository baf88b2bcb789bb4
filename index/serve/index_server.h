#pragma once
// Serves an index on this machine, for trying it.

#include <cstdint>
#include <memory>
#include <string>

#include "foundation/report/error.h"

namespace axle::index {

struct ServerOptions {
  std::string address = "127.0.0.1";  ///< in digits, IPv4 or IPv6
  std::uint16_t port = 0;             ///< 0: a free one
};

/// Answers until it ends, in threads of its own.
class IndexServer {
 public:
  virtual ~IndexServer() = default;
  /// "http://127.0.0.1:8080/simple/"
  [[nodiscard]] virtual const std::string& url() const = 0;
};

/// `folder`: absolute. Errors: not_found (no index), malformed (no address), io (it cannot listen
/// there, the module is not there).
[[nodiscard]] Result<std::unique_ptr<IndexServer>> serve_index(const std::string& folder,
                                                               const ServerOptions& options);

}  // namespace axle::index
