#include <algorithm>
#include <ctime>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "index/http/cache_store.h"
#include "index/http/http_rules.h"
#include "index/http/kept_downloads.h"
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
      : store_(options.folder), options_(std::move(options)), inner_(std::move(inner)) {}

  Result<HttpResponse> fetch(const HttpRequest& request) override {
    return fetch_or_form(request, nullptr);
  }

  Result<HttpResponse> fetch_or_form(const HttpRequest& request, const HasForm& has_form) override {
    if (!is_http_url(request.url)) return inner_->fetch(request);
    if (!is_cacheable(request))
      return options_.offline ? offline_error(request) : inner_->fetch(request);
    const std::string key = key_of(request);
    const std::optional<HttpRequest> sent = take_sent(key, request);
    // What was sent for without conditions is not in the cache, or its answer has put it there.
    if (sent && !is_conditional(*sent)) return ask(request, key, *sent, std::nullopt);
    std::optional<CachedResponse> entry = store_.read(key, has_form);
    if (entry && entry->body_size > request.max_bytes) entry.reset();
    if (entry) entry->response.reused = true;
    if (sent) return ask(request, key, *sent, std::move(entry));
    if (entry && answers(*entry, request)) return std::move(entry->response);
    if (options_.offline) return offline_error(request);
    // What has another sha256 than the request's is no answer, whatever the server says of it.
    if (!request.sha256.empty()) entry.reset();
    const HttpRequest now = conditional(request, entry);
    return ask(request, key, now, std::move(entry));
  }

  void prefetch(const HttpRequest& request, Preparation prepare) override {
    if (options_.offline || !is_http_url(request.url)) return;
    if (!is_cacheable(request)) return inner_->prefetch(request, std::move(prepare));
    std::string key = key_of(request);
    if (find_sent(key, request)) return;
    const auto entry = store_.look_ahead(key);
    if (!entry || (*entry && answers(**entry, request))) return;
    HttpRequest sent = conditional(request, *entry);
    note_sent(key, request, sent);
    inner_->prefetch(sent, [this, request, key = std::move(key),
                            prepare = std::move(prepare)](HttpResponse& response) {
      const bool unchanged = response.status == 304;
      if (!unchanged) keep_answer(request, key, response);
      if (prepare) prepare(response);
      // That a copy has not changed is for whoever reads it.
      response.prepared = !unchanged;
    });
  }

  bool prefetch_or_form(const HttpRequest& request, const HasForm& has_form,
                        Preparation prepare) override {
    if (is_http_url(request.url) && is_cacheable(request)) {
      const auto answer = store_.read_form(key_of(request), has_form);
      if (answer && answer->body_size <= request.max_bytes && answers(*answer, request))
        return true;
    }
    prefetch(request, std::move(prepare));
    return false;
  }

  bool has_arrived(const HttpRequest& request) override {
    if (options_.offline || !is_http_url(request.url)) return false;
    if (!is_cacheable(request)) return inner_->has_arrived(request);
    const std::string key = key_of(request);
    if (const auto sent = find_sent(key, request)) return inner_->has_arrived(*sent);
    const auto entry = store_.look_ahead(key);
    return entry && *entry && answers(**entry, request) && (*entry)->response.status == 200;
  }

  /// Wheels are stored by the installer, not twice.
  Result<HttpResponse> download(const HttpRequest& request, const BodySink& sink) override {
    if (options_.offline && is_http_url(request.url)) return offline_error(request);
    if (auto kept = downloads_.hand_over(request, sink)) return std::move(*kept);
    return inner_->download(request, sink);
  }

  void keep_download(const std::string& url, const HttpResponse& response, int file) override {
    downloads_.keep(url, response, file);
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
    return !store_.write(key, response, now_seconds()).path.empty();
  }

  bool keep_form(const FormPlace& copy, std::string_view bytes) override {
    return store_.write_form(copy, bytes);
  }

  void remember_credentials(std::string_view url) override { inner_->remember_credentials(url); }

 private:
  [[nodiscard]] bool is_cacheable(const HttpRequest& request) const {
    return !options_.folder.empty() && !request.range && !request.tail && request.etag.empty() &&
           request.last_modified.empty();
  }

  static std::string key_of(const HttpRequest& request) {
    return request.url + '\n' + request.accept;
  }

  /// The request that is sent, with what is known of the answer.
  [[nodiscard]] HttpRequest conditional(const HttpRequest& request,
                                        const std::optional<CachedResponse>& entry) const {
    HttpRequest sent = request;
    sent.refresh = request.refresh || options_.refresh;
    if (entry && entry->response.status == 200 && request.sha256.empty()) {
      sent.etag = entry->response.etag;
      sent.last_modified = entry->response.last_modified;
    }
    return sent;
  }

  [[nodiscard]] bool answers(const CachedResponse& entry, const HttpRequest& request) const {
    if (!request.sha256.empty()) {
      // Different content with the same name: whatever its age, it is not what was requested.
      return entry.response.status == 200 && entry.sha256 == request.sha256;
    }
    return options_.offline || (!options_.refresh && is_fresh(entry));
  }

  static bool is_conditional(const HttpRequest& sent) {
    return !sent.etag.empty() || !sent.last_modified.empty();
  }
  static HttpRequest unconditional(HttpRequest sent) {
    sent.etag.clear();
    sent.last_modified.clear();
    return sent;
  }
  /// Whether a 304 to `sent` speaks of this one.
  static bool is_about(const HttpRequest& sent, const CachedResponse& entry) {
    return sent.etag == entry.response.etag && sent.last_modified == entry.response.last_modified;
  }

  Result<HttpResponse> ask(const HttpRequest& request, const std::string& key,
                           const HttpRequest& sent, std::optional<CachedResponse> entry) {
    Result<HttpResponse> response = inner_->fetch(sent);
    if (!response || response->prepared) return response;
    if (response->status != 304 || !is_conditional(sent)) {
      keep_answer(request, key, *response);
      return response;
    }
    // The copy that it is about may have disappeared meanwhile, or be damaged.
    if (!entry || !is_about(sent, *entry)) return ask(request, key, unconditional(sent), {});
    store_.confirm(key, *entry, confirmed_at(*response));
    return std::move(entry->response);
  }

  static std::int64_t confirmed_at(const HttpResponse& response) {
    // Limits the age that a server claims: a century is as stale as any other.
    constexpr std::uint64_t oldest = 100ULL * 366 * 86'400;
    return now_seconds() - static_cast<std::int64_t>(std::min(response.age_seconds, oldest));
  }

  void keep_answer(const HttpRequest& request, const std::string& key, HttpResponse& response) {
    // The hash that identifies content is that of the content.
    if (!request.sha256.empty()) response.packed = {};
    if (worth_keeping(request, response))
      response.copy = store_.write(key, response, confirmed_at(response));
    response.packed = {};
  }

  /// What was sent for ahead and nobody has fetched: the request as it was sent.
  [[nodiscard]] std::optional<HttpRequest> find_sent(const std::string& key,
                                                     const HttpRequest& request) {
    const std::lock_guard lock(mutex_);
    const auto found = sent_.find(key);
    if (found == sent_.end() || found->second.first != request) return std::nullopt;
    return found->second.second;
  }
  [[nodiscard]] std::optional<HttpRequest> take_sent(const std::string& key,
                                                     const HttpRequest& request) {
    std::optional<HttpRequest> sent = find_sent(key, request);
    const std::lock_guard lock(mutex_);
    if (sent) sent_.erase(key);
    return sent;
  }
  void note_sent(const std::string& key, const HttpRequest& request, const HttpRequest& sent) {
    const std::lock_guard lock(mutex_);
    sent_.insert_or_assign(key, std::pair(request, sent));
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

  CacheStore store_;
  CacheOptions options_;
  KeptDownloads downloads_;
  std::mutex mutex_;  ///< protects what follows
  std::unordered_map<std::string, std::pair<HttpRequest, HttpRequest>> sent_;
  /// Its threads use all the rest.
  std::unique_ptr<Transport> inner_;
};

}  // namespace

std::unique_ptr<Transport> make_caching_transport(std::unique_ptr<Transport> inner,
                                                  CacheOptions options) {
  return std::make_unique<CachingTransport>(std::move(inner), std::move(options));
}

}  // namespace axle::index
