// The only file that uses libcurl. Built as a module that is opened on first use: linking libcurl
// into the program would cost 4 ms at every start.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

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
    case CURLE_SSL_CERTPROBLEM:
      return axle_curl_client_cert;
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

int watch_transfer(void* user, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent) {
  return static_cast<SpeedWatch*>(user)->ends_at(received + sent) ? 1 : 0;
}

/// One exchange with the handle that performs it.
struct Running {
  CURL* curl;
  const AxleCurlExchange* exchange;
  SpeedWatch watch{curl, exchange};
  curl_slist* headers = nullptr;
  char reason[CURL_ERROR_SIZE] = "";
  std::int64_t sent = 0;  ///< of the body
};

std::size_t take_body(char* part, std::size_t, std::size_t size, void* user) {
  auto* const running = static_cast<Running*>(user);
  const AxleCurlExchange& exchange = *running->exchange;
  const auto count = static_cast<std::size_t>(
      std::min(static_cast<std::int64_t>(size), exchange.body_bytes - running->sent));
  if (count == 0) return 0;
  if (exchange.read_body(exchange.context, running->sent, part, count) != 0)
    return CURL_READFUNC_ABORT;
  running->sent += static_cast<std::int64_t>(count);
  return count;
}

/// A kept connection may turn out to be closed: the body is sent again, on another one.
int seek_body(void* user, curl_off_t offset, int origin) {
  if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  static_cast<Running*>(user)->sent = offset;
  return CURL_SEEKFUNC_OK;
}

void set_method(Running& running) {
  CURL* curl = running.curl;
  const AxleCurlExchange& exchange = *running.exchange;
  if (exchange.body_bytes >= 0) {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(exchange.body_bytes));
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_READDATA, &running);
    curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_body);
    curl_easy_setopt(curl, CURLOPT_SEEKDATA, &running);
    curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
  }
  if (exchange.method == nullptr) return;
  if (std::string_view(exchange.method) == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, exchange.method);
  }
}

void set_options(Running& running) {
  CURL* curl = running.curl;
  const AxleCurlExchange& exchange = *running.exchange;
  curl_easy_setopt(curl, CURLOPT_URL, exchange.url);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  // The end of a command does not wait for a name server.
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, exchange.user_agent);
  // Both are always set, so that libcurl does not read the environment.
  curl_easy_setopt(curl, CURLOPT_PROXY, exchange.proxy);
  curl_easy_setopt(curl, CURLOPT_NOPROXY, exchange.no_proxy);
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, exchange.connect_seconds);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch_transfer);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &running.watch);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_CAINFO, exchange.ca_file);
  curl_easy_setopt(curl, CURLOPT_CAPATH, exchange.ca_folder);
  if (exchange.client_cert != nullptr)
    curl_easy_setopt(curl, CURLOPT_SSLCERT, exchange.client_cert);
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
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, running.headers);
  set_method(running);
  if (exchange.buffer_bytes > 0) curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, exchange.buffer_bytes);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, running.reason);
  curl_easy_setopt(curl, CURLOPT_PRIVATE, &running);
}

struct Pool {
  CURLM* multi;
  std::vector<std::unique_ptr<Running>> running;
  std::vector<CURL*> idle;

  /// Ends `place`, and keeps its handle for another exchange.
  void forget(Running* place) {
    curl_multi_remove_handle(multi, place->curl);
    curl_easy_reset(place->curl);
    curl_slist_free_all(place->headers);
    idle.push_back(place->curl);
    std::erase_if(running, [&](const auto& one) { return one.get() == place; });
  }
};

void* open_pool(long host_connections, long all_connections) {
  CURLM* multi = curl_multi_init();
  if (multi == nullptr) return nullptr;
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, host_connections);
  curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, all_connections);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, all_connections);
  auto* const pool = new (std::nothrow) Pool{multi, {}, {}};
  if (pool == nullptr) curl_multi_cleanup(multi);
  return pool;
}

void close_pool(void* handle) {
  const std::unique_ptr<Pool> pool(static_cast<Pool*>(handle));
  while (!pool->running.empty()) pool->forget(pool->running.back().get());
  for (CURL* curl : pool->idle) curl_easy_cleanup(curl);
  curl_multi_cleanup(pool->multi);
}

std::int32_t begin(void* handle, const AxleCurlExchange* exchange) try {
  Pool& pool = *static_cast<Pool*>(handle);
  CURL* curl = pool.idle.empty() ? curl_easy_init() : pool.idle.back();
  if (curl == nullptr) return 1;
  if (!pool.idle.empty()) pool.idle.pop_back();
  Running& running = *pool.running.emplace_back(std::make_unique<Running>(curl, exchange));
  for (std::size_t i = 0; i < exchange->header_count; ++i) {
    curl_slist* longer = curl_slist_append(running.headers, exchange->headers[i]);
    if (longer == nullptr) break;
    running.headers = longer;
  }
  set_options(running);
  if (curl_multi_add_handle(pool.multi, curl) == CURLM_OK) return 0;
  pool.forget(&running);
  return 1;
} catch (const std::bad_alloc&) {
  return 1;  // exceptions must not leave the module
}

void run(void* handle, std::int32_t milliseconds) {
  Pool& pool = *static_cast<Pool*>(handle);
  // The time limits are looked at this often.
  constexpr std::int32_t longest_wait = 250;
  int active = 0;
  curl_multi_perform(pool.multi, &active);
  if (active < static_cast<int>(pool.running.size())) return;
  const std::int32_t wait =
      pool.running.empty() ? milliseconds : std::min(milliseconds, longest_wait);
  curl_multi_poll(pool.multi, nullptr, 0, wait, nullptr);
  curl_multi_perform(pool.multi, &active);
}

const AxleCurlExchange* take_done(void* handle, AxleCurlOutcome* outcome) {
  Pool& pool = *static_cast<Pool*>(handle);
  int left = 0;
  const CURLMsg* message = curl_multi_info_read(pool.multi, &left);
  if (message == nullptr) return nullptr;
  const CURLcode code = message->data.result;
  Running* running = nullptr;
  curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &running);
  const AxleCurlExchange* const exchange = running->exchange;
  outcome->end = running->watch.end != axle_curl_done ? running->watch.end : end_of(code);
  // What libcurl says of a header line beyond its limit, too.
  const char* const told = code == CURLE_OUT_OF_MEMORY
                               ? "Out of memory, or a header of more than 100 KiB"
                               : curl_easy_strerror(code);
  std::snprintf(outcome->reason, sizeof outcome->reason, "%s",
                running->reason[0] != '\0' ? running->reason : told);
  pool.forget(running);
  return exchange;
}

void wake(void* handle) { curl_multi_wakeup(static_cast<Pool*>(handle)->multi); }

constexpr AxleCurlApi api = {
    axle_curl_api_version, open_pool, close_pool, begin, run, take_done, wake};

}  // namespace

extern "C" [[gnu::visibility("default")]] const AxleCurlApi* axle_curl_api(std::uint32_t version) {
  if (version != axle_curl_api_version) return nullptr;
  // Counted by libcurl, and safe to repeat (7.84 and later).
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return nullptr;
  return &api;
}
