#include <utility>

#include "index/bundle/bundle.h"

namespace axle::index {
namespace {

class BundleTransport final : public Transport {
 public:
  BundleTransport(std::unique_ptr<Transport> inner, std::shared_ptr<const Bundle> bundle)
      : inner_(std::move(inner)), bundle_(std::move(bundle)) {}

  Result<HttpResponse> fetch(const HttpRequest& request) override {
    return bundle_->has_place(request.url) ? bundle_->answer(request, nullptr)
                                           : inner_->fetch(request);
  }
  Result<HttpResponse> download(const HttpRequest& request, const BodySink& sink) override {
    return bundle_->has_place(request.url) ? bundle_->answer(request, &sink)
                                           : inner_->download(request, sink);
  }
  bool has_arrived(const HttpRequest& request) override {
    return bundle_->has_place(request.url) || inner_->has_arrived(request);
  }

 private:
  std::unique_ptr<Transport> inner_;
  std::shared_ptr<const Bundle> bundle_;
};

}  // namespace

std::unique_ptr<Transport> make_bundle_transport(std::unique_ptr<Transport> inner,
                                                 std::shared_ptr<const Bundle> bundle) {
  return std::make_unique<BundleTransport>(std::move(inner), std::move(bundle));
}

}  // namespace axle::index
