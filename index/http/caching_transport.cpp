#include <algorithm>
#include <ctime>
#include <utility>

#include "index/http/cache_store.h"
#include "index/http/http_rules.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "index/pages/source.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

std::int64_t now_seconds() { return static_cast<std::int64_t>(std::time(nullptr)); }

/// Limits a server's value: an index that allows a year would freeze upgrades for a year.
constexpr std::uint64_t longest_belief_seconds = 600;

bool is_fresh(const CachedResponse& entry) {
  const CacheControl control = parse_cache_control(entry.response.cache_control);
  if (entry.response.status != 200 || control.no_cache || !control.max_age_seconds) return false;
  const std::int64_t age = now_seconds() - entry.confirmed_at;
  // An entry from the future (a clock set back) is not considered fresh.
  return age >= 0 && static_cast<std::uint64_t>(age) <
                         std::min(*control.max_age_seconds, longest_belief_seconds);
}

class CachingTransport final : public Transport {
 public:
  CachingTransport(std::unique_ptr<Transport> inner, CacheOptions options)
      : inner_(std::move(inner)), store_(options.folder), options_(std::move(options)) {}

  Result<HttpResponse> fetch(const HttpRequest& request) override {
    if (!is_http_url(request.url)) return inner_->fetch(request);
    const bool cacheable = !options_.folder.empty() && !request.range && !request.tail &&
                           request.etag.empty() && request.last_modified.empty();
    if (!cacheable) return options_.offline ? offline_error(request) : inner_->fetch(request);
    const std::string key = request.url + '\n' + request.accept;
    std::optional<CachedResponse> entry = store_.read(key);
    if (entry && entry->response.body.size() > request.max_bytes) entry.reset();
    if (entry && answers(*entry, request)) return std::move(entry->response);
    if (options_.offline) return offline_error(request);
    return ask(request, key, std::move(entry));
  }

  /// Wheels are stored by the installer, not twice.
  Result<HttpResponse> download(const HttpRequest& request, const BodySink& sink) override {
    if (options_.offline && is_http_url(request.url)) return offline_error(request);
    return inner_->download(request, sink);
  }

  Result<std::optional<std::string>> recall(std::string_view key) override {
    if (options_.folder.empty()) return std::nullopt;
    Result<std::optional<CachedResponse>> entry = store_.look_up(key);
    if (!entry) return std::unexpected(std::move(entry.error()));
    if (!*entry || (*entry)->response.status != 200) return std::nullopt;
    return std::move((*entry)->response.body);
  }

  bool keep(std::string_view key, std::string_view text) override {
    if (options_.folder.empty()) return false;
    HttpResponse response;
    response.status = 200;
    response.body = text;
    return store_.write(key, response, now_seconds());
  }

  void remember_credentials(std::string_view url) override { inner_->remember_credentials(url); }

 private:
  [[nodiscard]] bool answers(const CachedResponse& entry, const HttpRequest& request) const {
    if (!request.sha256.empty()) {
      // Different content with the same name: whatever its age, it is not what was requested.
      return entry.response.status == 200 && entry.sha256 == request.sha256;
    }
    return options_.offline || (!options_.refresh && is_fresh(entry));
  }

  Result<HttpResponse> ask(const HttpRequest& request, const std::string& key,
                           std::optional<CachedResponse> entry) {
    HttpRequest conditional = request;
    conditional.refresh = request.refresh || options_.refresh;
    if (entry && entry->response.status == 200 && request.sha256.empty()) {
      conditional.etag = entry->response.etag;
      conditional.last_modified = entry->response.last_modified;
    }
    Result<HttpResponse> response = inner_->fetch(conditional);
    if (!response) return response;
    // Limits the age that a server claims: a century is as stale as any other.
    constexpr std::uint64_t oldest = 100ULL * 366 * 86'400;
    const std::int64_t confirmed =
        now_seconds() - static_cast<std::int64_t>(std::min(response->age_seconds, oldest));
    if (response->status == 304 && entry) {
      store_.confirm(key, confirmed);
      return std::move(entry->response);
    }
    if (worth_keeping(request, *response)) store_.write(key, *response, confirmed);
    return response;
  }

  /// 404 is cached too: offline, "this index does not have it" is an answer.
  static bool worth_keeping(const HttpRequest& request, const HttpResponse& response) {
    if (response.status != 200 && response.status != 404) return false;
    if (parse_cache_control(response.cache_control).no_store) return false;
    return request.sha256.empty() || response.status != 200 ||
           wheel::render_hex(wheel::sha256(response.body)) == request.sha256;
  }

  static Result<HttpResponse> offline_error(const HttpRequest& request) {
    return fail(ErrorKind::io,
                redact_url(request.url) + " is not in the cache, and --offline is set",
                "run the command once without --offline");
  }

  std::unique_ptr<Transport> inner_;
  CacheStore store_;
  CacheOptions options_;
};

}  // namespace

std::unique_ptr<Transport> make_caching_transport(std::unique_ptr<Transport> inner,
                                                  CacheOptions options) {
  return std::make_unique<CachingTransport>(std::move(inner), std::move(options));
}

}  // namespace axle::index
