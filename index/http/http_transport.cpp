#include "index/http/http_transport.h"

#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "index/http/credentials.h"
#include "index/http/curl_loader.h"
#include "index/http/http_exchange.h"
#include "index/http/redaction.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

constexpr unsigned max_redirects = 10;

class HttpTransport final : public Transport {
 public:
  explicit HttpTransport(TransportOptions options)
      : options_(std::move(options)),
        credentials_(std::move(options_.netrc), std::move(options_.logins),
                     std::move(options_.keyring)) {
    if (options_.user_agent.empty()) options_.user_agent = "axle";
  }
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;
  ~HttpTransport() override {
    for (void* handle : idle_) api_->close(handle);
  }

  Result<HttpResponse> fetch(const HttpRequest& request) override { return run(request, nullptr); }
  Result<HttpResponse> download(const HttpRequest& request, const BodySink& sink) override {
    return run(request, &sink);
  }
  void remember_credentials(std::string_view url) override { credentials_.remember(url); }

 private:
  Result<HttpResponse> run(const HttpRequest& request, const BodySink* sink) {
    if (options_.offline) {
      return fail(ErrorKind::io, redact_url(request.url) + " is needed, but --offline is set",
                  "run the command once without --offline");
    }
    Result<void*> handle = take_handle();
    if (!handle) return std::unexpected(handle.error());
    for (unsigned retry = 0;; ++retry) {
      ExchangeResult result = follow(*handle, request, sink);
      if (!result.transient || result.bytes_given || retry == options_.retries) {
        give_back(*handle);
        return std::move(result.response);
      }
      std::this_thread::sleep_for(retry_pause(retry,
                                              std::chrono::milliseconds(options_.retry_pause_ms),
                                              result.head.retry_after_seconds));
    }
  }

  ExchangeResult follow(void* handle, const HttpRequest& request, const BodySink* sink) {
    std::string url(without_fragment(request.url));
    for (unsigned hop = 0;; ++hop) {
      ExchangeResult result = ask(handle, url, request, sink);
      if (!result.response || !result.head.is_redirect()) return result;
      Result<std::string> next = next_hop(url, result.head.location);
      if (next && hop == max_redirects) {
        next = fail(ErrorKind::io, fmt::format("{} redirects more than {} times",
                                               redact_url(request.url), max_redirects));
      }
      if (!next) {
        result.response = std::unexpected(std::move(next.error()));
        return result;
      }
      // The request's own user name and password are only sent to its own server.
      if (const Credential own = url_credential(request.url);
          !own.empty() && url_origin(*next) == url_origin(request.url)) {
        next = with_credential(*next, request.url);
      }
      url = std::move(*next);
    }
  }

  /// With the known credentials; if the server rejects them, with those of the keyring.
  ExchangeResult ask(void* handle, const std::string& url, const HttpRequest& request,
                     const BodySink* sink) {
    const auto exchange = [&](const Credential& credential) {
      const ExchangeTarget target{without_credentials(url), credential.user, credential.password};
      return perform_exchange(*api_, handle, options_, request, target, sink);
    };
    const auto failed = [](Error error) {
      return ExchangeResult{std::unexpected(std::move(error)), {}, false, false};
    };
    const Credential known = credentials_.find(url);
    const bool must = known.empty() && credentials_.policy(url) == Authenticate::always;
    if (must) {
      return failed(
          {ErrorKind::io,
           fmt::format(
               "no user name and password for {}, whose index has `authenticate = \"always\"`",
               redact_url(url)),
           "set them in the index URL, in UV_INDEX_<NAME>_USERNAME and _PASSWORD, or in a netrc "
           "file"});
    }
    ExchangeResult result = exchange(known);
    if (!result.response || result.response->status != 401) return result;
    auto asked = credentials_.ask_keyring(url);
    if (!asked) return failed(std::move(asked).error());
    if (!*asked || (*asked)->password == known.password) return result;
    return exchange(**asked);
  }

  Result<void*> take_handle() {
    const std::lock_guard lock(mutex_);
    if (api_ == nullptr) {
      Result<const AxleCurlApi*> api = load_curl(curl_module_paths());
      if (!api) return std::unexpected(api.error());
      api_ = *api;
    }
    if (!idle_.empty()) {
      void* handle = idle_.back();
      idle_.pop_back();
      return handle;
    }
    void* handle = api_->open();
    if (handle == nullptr) return fail(ErrorKind::io, "libcurl cannot start a transfer");
    return handle;
  }

  void give_back(void* handle) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(handle);
  }

  TransportOptions options_;
  CredentialStore credentials_;
  std::mutex mutex_;  ///< protects the following members; `api_` does not change once set
  const AxleCurlApi* api_ = nullptr;
  std::vector<void*> idle_;  ///< each with its connections
};

}  // namespace

std::unique_ptr<Transport> make_http_transport(TransportOptions options) {
  return std::make_unique<HttpTransport>(std::move(options));
}

}  // namespace axle::index
