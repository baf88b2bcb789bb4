#include "session/requests/remote_text.h"

#include <memory>
#include <utility>

#include <fmt/core.h>

#include "index/http/redaction.h"
#include "index/http/transport.h"
#include "session/index_access.h"
#include "session/settings/settings.h"

namespace axle::session {

namespace {

constexpr std::uint64_t most_bytes = 64U << 20;
constexpr int status_ok = 200;

Outcome<std::unique_ptr<index::Transport>> open_transport(const Arguments& arguments,
                                                          const std::string& python_prefix) {
  const auto settings = read_settings(arguments, python_prefix);
  if (!settings) return std::unexpected(settings.error());
  auto options = transport_options(*settings);
  if (!options) return std::unexpected(options.error());
  return index::make_transport(*std::move(options));
}

/// A server of requirements files, opened for the first one.
class RemoteFiles {
 public:
  RemoteFiles(const Arguments& arguments, std::function<Outcome<std::string>()> python_prefix)
      : arguments_(arguments), python_prefix_(std::move(python_prefix)) {}

  Result<std::string> read(const std::string& url) {
    if (transport_ == nullptr) {
      const auto prefix = python_prefix_();
      if (!prefix) return std::unexpected(prefix.error().error);
      auto opened = open_transport(arguments_, *prefix);
      if (!opened) return std::unexpected(opened.error().error);
      transport_ = *std::move(opened);
    }
    index::HttpRequest request;
    request.url = url;
    request.max_bytes = most_bytes;
    auto response = transport_->fetch(request);
    if (!response) return std::unexpected(std::move(response).error());
    if (response->status == status_ok) return std::move(response->body);
    return fail(ErrorKind::io,
                fmt::format("{}: the server answers {}", index::redact_url(url), response->status),
                "check the URL and the login of its server");
  }

 private:
  Arguments arguments_;
  std::function<Outcome<std::string>()> python_prefix_;
  std::unique_ptr<index::Transport> transport_;
};

}  // namespace

RemoteText remote_text(const Arguments& arguments,
                       std::function<Outcome<std::string>()> python_prefix) {
  return [files = std::make_shared<RemoteFiles>(arguments, std::move(python_prefix))](
             const std::string& url) { return files->read(url); };
}

}  // namespace axle::session
