#include "index/serve/index_server.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/text/quote.h"
#include "index/opened_module.h"
#include "index/serve/served_index.h"
#include "index/serve/server_api.h"

namespace axle::index {
namespace {

constexpr Module server_module = {"libaxle_server.so", "server module", axle_server_factory_name};

constexpr std::uint32_t idle_seconds = 15;
constexpr std::uint32_t most_connections = 256;
constexpr std::uint32_t most_header_bytes = 32U << 10;

class RunningServer final : public IndexServer {
 public:
  RunningServer(ServedIndex index, const AxleServerApi& api)
      : index_(std::move(index)), api_(api) {}
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() override {
    if (server_ != nullptr) api_.stop(server_);
  }
  const std::string& url() const override { return url_; }

  Result<void> start(const ServerOptions& wanted) {
    const AxleServerOptions options = {
        wanted.address.c_str(), wanted.port, idle_seconds, most_connections,
        most_header_bytes,      this,        answer};
    std::uint16_t port = 0;
    std::int32_t error = 0;
    server_ = api_.start(&options, &port, &error);
    if (server_ == nullptr) return refuse(wanted, error);
    const bool six = wanted.address.find(':') != std::string::npos;
    url_ = fmt::format("http://{}{}{}:{}/simple/", six ? "[" : "", wanted.address, six ? "]" : "",
                       port);
    return {};
  }

 private:
  static Result<void> refuse(const ServerOptions& wanted, std::int32_t error) {
    if (error == 0) {
      return fail(ErrorKind::malformed,
                  fmt::format("{} is not an address to listen on", text::quote(wanted.address)),
                  "write it in digits: 127.0.0.1, ::1");
    }
    return fail(ErrorKind::io,
                fmt::format("cannot listen on {} port {}: {}", wanted.address, wanted.port,
                            std::strerror(error)),
                error == EADDRINUSE ? "another program has the port: choose another one with --port"
                                    : "choose another address with --host, or another port");
  }

  static void answer(void* context, const AxleServerRequest* asked, AxleServerAnswer* told) {
    thread_local ServedAnswer kept;
    thread_local std::vector<const char*> names;
    thread_local std::vector<const char*> values;
    kept = static_cast<RunningServer*>(context)->index_.answer(
        {asked->method, asked->path, asked->accept, asked->range, asked->if_range,
         asked->if_none_match});
    names.clear();
    values.clear();
    for (const auto& [name, value] : kept.headers) {
      names.push_back(name.c_str());
      values.push_back(value.c_str());
    }
    told->status = kept.status;
    told->names = names.data();
    told->values = values.data();
    told->header_count = names.size();
    told->body = kept.body.data();
    told->body_bytes = kept.body.size();
    told->file = kept.file ? kept.file.release() : -1;
    told->offset = kept.offset;
    told->length = kept.length;
  }

  ServedIndex index_;
  const AxleServerApi& api_;
  void* server_ = nullptr;
  std::string url_;
};

}  // namespace

Result<std::unique_ptr<IndexServer>> serve_index(const std::string& folder,
                                                 const ServerOptions& options) {
  auto index = ServedIndex::open(folder);
  if (!index) return std::unexpected(std::move(index.error()));
  const std::vector<std::string> paths = module_paths(server_module);
  const auto function = open_module(server_module, paths);
  if (!function) return std::unexpected(function.error());
  const AxleServerApi* api = std::bit_cast<AxleServerFactory>(*function)(axle_server_api_version);
  if (api == nullptr || api->version != axle_server_api_version)
    return other_release(server_module, paths);
  auto server = std::make_unique<RunningServer>(std::move(*index), *api);
  if (auto started = server->start(options); !started)
    return std::unexpected(std::move(started.error()));
  return server;
}

}  // namespace axle::index
