// The only file that uses libcurl. Built as a module that is opened on first use: linking libcurl
// into the program would cost 4 ms at every start.
#include <chrono>
#include <cstdio>
#include <string_view>

#include <curl/curl.h>

#include "index/http/curl_api.h"

namespace {

AxleCurlEnd end_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return axle_curl_done;
    case CURLE_WRITE_ERROR:
    case CURLE_ABORTED_BY_CALLBACK:
      return axle_curl_stopped;
    case CURLE_COULDNT_RESOLVE_HOST:
      return axle_curl_resolve;
    case CURLE_COULDNT_CONNECT:
      return axle_curl_connect;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
      return axle_curl_proxy;
    case CURLE_OPERATION_TIMEDOUT:
      return axle_curl_timeout;
    case CURLE_SSL_CONNECT_ERROR:
      return axle_curl_tls;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
      return axle_curl_certificate;
    case CURLE_SSL_CACERT_BADFILE:
      return axle_curl_ca_file;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return axle_curl_broken;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return axle_curl_bad_url;
    default:
      return axle_curl_other;
  }
}

std::size_t give_header(char* bytes, std::size_t, std::size_t size, void* user) {
  const auto* exchange = static_cast<const AxleCurlExchange*>(user);
  std::string_view line(bytes, size);
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  return exchange->on_header(exchange->context, line.data(), line.size()) == 0 ? size : 0;
}

std::size_t give_body(char* bytes, std::size_t, std::size_t size, void* user) {
  const auto* exchange = static_cast<const AxleCurlExchange*>(user);
  // Not CURL_WRITEFUNC_ERROR, which 7.88 does not have; any count other than `size` ends the
  // transfer.
  return exchange->on_body(exchange->context, bytes, size) == 0 ? size : size + 1;
}

/// libcurl has one speed limit; two are needed: no byte at all for a while, and too few for longer.
struct SpeedWatch {
  using Clock = std::chrono::steady_clock;

  CURL* curl;
  const AxleCurlExchange* exchange;
  Clock::time_point last_byte = Clock::now();
  Clock::time_point window = Clock::now();  ///< the start of the time for `window_bytes`
  curl_off_t bytes = 0;
  curl_off_t window_bytes = 0;
  AxleCurlEnd end = axle_curl_done;

  [[nodiscard]] bool stop(AxleCurlEnd why) {
    end = why;
    return true;
  }

  [[nodiscard]] bool ends_at(curl_off_t received) {
    const Clock::time_point now = Clock::now();
    curl_off_t connected = 0;
    curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &connected);
    if (received != bytes || connected == 0) last_byte = now;
    if (connected == 0) window = now;
    bytes = received;
    // A server that may take its time to answer is not slow before that time is over.
    const std::chrono::seconds patience(exchange->timeout_seconds);
    if (now - last_byte >= patience) return stop(axle_curl_timeout);
    if (received == 0) window = now;
    if (now - window < std::chrono::seconds(exchange->slow_seconds)) return false;
    if (received - window_bytes < exchange->slow_bytes_per_second * exchange->slow_seconds) {
      return stop(axle_curl_slow);
    }
    window = now;
    window_bytes = received;
    return false;
  }
};

int watch_transfer(void* user, curl_off_t, curl_off_t received, curl_off_t, curl_off_t) {
  return static_cast<SpeedWatch*>(user)->ends_at(received) ? 1 : 0;
}

void set_options(CURL* curl, const AxleCurlExchange& exchange, SpeedWatch& watch) {
  curl_easy_setopt(curl, CURLOPT_URL, exchange.url);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, exchange.user_agent);
  // Both are always set, so that libcurl does not read the environment.
  curl_easy_setopt(curl, CURLOPT_PROXY, exchange.proxy);
  curl_easy_setopt(curl, CURLOPT_NOPROXY, exchange.no_proxy);
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, exchange.timeout_seconds);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch_transfer);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &watch);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (exchange.ca_file != nullptr) curl_easy_setopt(curl, CURLOPT_CAINFO, exchange.ca_file);
  if (exchange.check_certificate == 0) {
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (exchange.user != nullptr) {
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    curl_easy_setopt(curl, CURLOPT_USERNAME, exchange.user);
    curl_easy_setopt(curl, CURLOPT_PASSWORD, exchange.password);
  }
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, give_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, give_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
}

void perform(void* handle, const AxleCurlExchange* exchange, AxleCurlOutcome* outcome) {
  CURL* curl = handle;
  char reason[CURL_ERROR_SIZE] = "";
  curl_slist* headers = nullptr;
  for (std::size_t i = 0; i < exchange->header_count; ++i) {
    curl_slist* longer = curl_slist_append(headers, exchange->headers[i]);
    if (longer == nullptr) break;
    headers = longer;
  }
  curl_easy_reset(curl);  // keeps connections and the DNS cache
  SpeedWatch watch{curl, exchange};
  set_options(curl, *exchange, watch);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  curl_slist_free_all(headers);
  outcome->end = watch.end != axle_curl_done ? watch.end : end_of(code);
  std::snprintf(outcome->reason, sizeof outcome->reason, "%s",
                reason[0] != '\0' ? reason : curl_easy_strerror(code));
}

void* open_handle() { return curl_easy_init(); }
void close_handle(void* handle) { curl_easy_cleanup(handle); }

constexpr AxleCurlApi api = {axle_curl_api_version, open_handle, close_handle, perform};

}  // namespace

extern "C" [[gnu::visibility("default")]] const AxleCurlApi* axle_curl_api(std::uint32_t version) {
  if (version != axle_curl_api_version) return nullptr;
  // Counted by libcurl, and safe to repeat (7.84 and later).
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return nullptr;
  return &api;
}
