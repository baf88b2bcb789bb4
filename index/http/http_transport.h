#pragma once
// http and https: redirects, retries and credentials around single exchanges.

#include <memory>

#include "index/http/transport.h"

namespace axle::index {

[[nodiscard]] std::unique_ptr<Transport> make_http_transport(TransportOptions options);

}  // namespace axle::index
