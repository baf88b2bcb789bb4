#include "index/http/transport.h"

#include <utility>

#include "index/http/http_transport.h"
#include "index/http/local_files.h"
#include "index/http/redaction.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

class AnyTransport final : public Transport {
 public:
  explicit AnyTransport(TransportOptions options)
      : http_(make_http_transport(std::move(options))) {}

  Result<HttpResponse> fetch(const HttpRequest& request) override {
    return answer(request, nullptr);
  }
  Result<HttpResponse> download(const HttpRequest& request, const BodySink& sink) override {
    return answer(request, &sink);
  }
  void prefetch(const HttpRequest& request, Preparation prepare) override {
    const bool empty = request.range && request.range->length == 0;
    if (is_http_url(request.url) && !empty) http_->prefetch(request, std::move(prepare));
  }
  bool has_arrived(const HttpRequest& request) override { return http_->has_arrived(request); }
  void remember_credentials(std::string_view url) override { http_->remember_credentials(url); }

 private:
  Result<HttpResponse> answer(const HttpRequest& request, const BodySink* sink) {
    if (is_file_url(request.url)) return answer_from_file(request, sink);
    if (is_bundle_url(request.url)) {
      return fail(ErrorKind::io, redact_url(request.url) + " is in a bundle that was not opened",
                  "install the package again, out of the bundle: --bundle FILE");
    }
    if (!is_http_url(request.url)) {
      return fail(ErrorKind::malformed,
                  "'" + redact_url(request.url) + "' is not an http, https or file URL",
                  "check its spelling");
    }
    if (request.range && request.range->length == 0) {
      return fail(ErrorKind::malformed, "an empty range of " + redact_url(request.url));
    }
    return sink == nullptr ? http_->fetch(request) : http_->download(request, *sink);
  }

  std::unique_ptr<Transport> http_;
};

}  // namespace

std::unique_ptr<Transport> make_transport(TransportOptions options) {
  return std::make_unique<AnyTransport>(std::move(options));
}

}  // namespace axle::index
