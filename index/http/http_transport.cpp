// One thread transfers everything; whoever fetches waits for it. Requests sent ahead are like
// others, but that nobody waits for them yet. A second thread prepares their answers; whoever waits
// for one that it has not come to does that itself.

#include "index/http/http_transport.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/system/signals_blocked.h"
#include "index/http/credentials.h"
#include "index/http/curl_loader.h"
#include "index/http/http_transfer.h"
#include "index/http/redaction.h"
#include "index/http/request_queue.h"
#include "index/http/url.h"
#include "index/http/while_waiting.h"

namespace axle::index {
namespace {

thread_local WhileWaiting* waiting_work = nullptr;

}  // namespace

WhileWaiting::WhileWaiting(std::function<void()> work)
    : work_(std::move(work)), outer_(std::exchange(waiting_work, this)) {}
WhileWaiting::~WhileWaiting() { waiting_work = outer_; }

bool WhileWaiting::wanted() { return waiting_work != nullptr && waiting_work->work_ != nullptr; }

void WhileWaiting::work() {
  const std::function<void()>& work = waiting_work->work_;
  const WhileWaiting nothing_else(nullptr);
  work();
}

namespace {

/// While so much has come that nobody has fetched, nothing more is requested ahead.
constexpr std::uint64_t most_bytes_ahead = 32ULL << 20;
/// More than the queue allows ahead: what is waited for comes on top.
constexpr long host_connections = static_cast<long>(RequestQueue::most_connections) + 4;
constexpr long all_connections = static_cast<long>(RequestQueue::most_requests) + 14;

struct Job : QueuedRequest {
  enum class State : std::uint8_t {
    travelling,  ///< the I/O thread has the transfer
    unprepared,  ///< it is in the list of those
    preparing,   ///< by the second thread
    settled,     ///< whoever waits has it: either it is complete, or the keyring has to be asked
  };

  HttpTransfer transfer;
  Preparation prepare;
  State state = State::travelling;
  bool complete = false;        ///< HttpTransfer::complete was called
  std::size_t bytes_ahead = 0;  ///< of its answer, as they count

  Job(const TransportOptions& options, CredentialStore& credentials, const HttpRequest& request,
      const BodySink* sink)
      : transfer(options, credentials, request, sink) {}
};

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
  ~HttpTransport() override;

  Result<HttpResponse> fetch(const HttpRequest& request) override { return run(request, nullptr); }
  Result<HttpResponse> download(const HttpRequest& request, const BodySink& sink) override {
    return run(request, &sink);
  }
  void prefetch(const HttpRequest& request, Preparation prepare) override;
  bool has_arrived(const HttpRequest& request) override;
  void remember_credentials(std::string_view url) override { credentials_.remember(url); }

 private:
  using Clock = HttpTransfer::Clock;
  using Ahead = std::unordered_multimap<std::string, Job*>;

  Result<HttpResponse> run(const HttpRequest& request, const BodySink* sink);
  /// Opens the module and starts the thread, once.
  [[nodiscard]] Result<void> start();
  [[nodiscard]] bool start_preparer();
  /// `prepare` empty: whoever fetches it does.
  [[nodiscard]] Job& add(const HttpRequest& request, const BodySink* sink, bool awaited,
                         Preparation prepare = nullptr);
  [[nodiscard]] Ahead::iterator find_ahead(const HttpRequest& request);
  [[nodiscard]] Job& claim(Ahead::iterator place);
  void wait_for(Job& job, std::unique_lock<std::mutex>& lock);
  /// To the next step of its transfer.
  void go_on(Job& job);

  void transfer_all();
  void prepare_all();
  /// In the thread that calls it; `job` is in no list.
  void prepare(Job& job, std::unique_lock<std::mutex>& lock);
  void prepare_next(std::unique_lock<std::mutex>& lock);
  void settle(Job& job);
  /// What has come of it and nobody has fetched.
  void count_ahead(Job& job);
  void begin_waiting();
  [[nodiscard]] std::chrono::milliseconds time_to_next() const;

  struct Ended {
    Job* job;
    std::string server;
    ResponseHead head;
  };
  [[nodiscard]] std::vector<Ended> take_ended();

  TransportOptions options_;
  CredentialStore credentials_;
  std::mutex mutex_;  ///< protects all below, except for what is the thread's
  std::condition_variable settled_;
  std::condition_variable unprepared_;
  const AxleCurlApi* api_ = nullptr;  ///< does not change once set, like the pool
  void* pool_ = nullptr;
  std::unordered_map<const Job*, std::unique_ptr<Job>> jobs_;
  Ahead ahead_;  ///< by URL: nobody has fetched them
  std::uint64_t bytes_ahead_ = 0;
  std::uint64_t arrivals_ = 0;
  RequestQueue queue_;
  std::multimap<Clock::time_point, Job*> paused_;
  std::deque<Job*> to_prepare_;
  std::set<std::string> range_servers_;  ///< that have given a part of a file
  bool stopping_ = false;
  std::unordered_map<const AxleCurlExchange*, Job*> running_;  ///< the thread's
  std::thread thread_;
  std::thread preparer_;  ///< begun with the first request that has something to prepare
};

HttpTransport::~HttpTransport() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  unprepared_.notify_all();
  api_->wake(pool_);
  thread_.join();
  if (preparer_.joinable()) preparer_.join();
  api_->close(pool_);
}

bool HttpTransport::start_preparer() {
  if (preparer_.joinable()) return true;
  try {
    const system::SignalsBlocked blocked;
    preparer_ = std::thread([this] { prepare_all(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

Result<void> HttpTransport::start() {
  if (thread_.joinable()) return {};
  Result<const AxleCurlApi*> api = load_curl(module_paths(curl_module));
  if (!api) return std::unexpected(api.error());
  void* const pool = (*api)->open(host_connections, all_connections);
  if (pool == nullptr) return fail(ErrorKind::io, "libcurl cannot start a transfer");
  api_ = *api;
  pool_ = pool;
  try {
    const system::SignalsBlocked blocked;
    thread_ = std::thread([this] { transfer_all(); });
  } catch (const std::system_error& error) {
    api_->close(pool);
    return fail(ErrorKind::io, fmt::format("cannot start a thread for transfers: {}", error.what()),
                "the limit of processes may be reached");
  }
  return {};
}

Job& HttpTransport::add(const HttpRequest& request, const BodySink* sink, bool awaited,
                        Preparation prepare) {
  auto made = std::make_unique<Job>(options_, credentials_, request, sink);
  Job& job = *made;
  job.awaited = awaited;
  job.prepare = std::move(prepare);
  jobs_.emplace(&job, std::move(made));
  go_on(job);
  return job;
}

HttpTransport::Ahead::iterator HttpTransport::find_ahead(const HttpRequest& request) {
  const auto [first, last] = ahead_.equal_range(request.url);
  const auto found = std::find_if(
      first, last, [&](const auto& one) { return one.second->transfer.request() == request; });
  return found == last ? ahead_.end() : found;
}

Job& HttpTransport::claim(Ahead::iterator place) {
  Job& job = *place->second;
  ahead_.erase(place);
  if (job.state == Job::State::travelling) queue_.hurry(job);
  job.awaited = true;
  bytes_ahead_ -= std::exchange(job.bytes_ahead, 0);
  return job;
}

void HttpTransport::prefetch(const HttpRequest& request, Preparation prepare) {
  if (options_.offline) return;
  const std::lock_guard lock(mutex_);
  if ((request.range || request.tail) && !range_servers_.contains(url_origin(request.url))) return;
  if (find_ahead(request) != ahead_.end() || !start()) return;
  if (prepare && !start_preparer()) prepare = nullptr;
  Job& job = add(request, nullptr, false, std::move(prepare));
  ahead_.emplace(request.url, &job);
  api_->wake(pool_);
}

bool HttpTransport::has_arrived(const HttpRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto place = find_ahead(request);
  if (place == ahead_.end() || place->second->state != Job::State::settled) return false;
  const int status = place->second->transfer.status();
  return status == 200 || status == 206 || status == 304;
}

Result<HttpResponse> HttpTransport::run(const HttpRequest& request, const BodySink* sink) {
  if (options_.offline) {
    return fail(ErrorKind::io, redact_url(request.url) + " is needed, but --offline is set",
                "run the command once without --offline");
  }
  std::unique_lock lock(mutex_);
  if (Result<void> started = start(); !started) return std::unexpected(started.error());
  const auto ahead = sink == nullptr ? find_ahead(request) : ahead_.end();
  Job& job = ahead == ahead_.end() ? add(request, sink, true) : claim(ahead);
  api_->wake(pool_);
  for (;;) {
    wait_for(job, lock);
    if (job.transfer.next() == HttpTransfer::Next::nothing) break;
    lock.unlock();
    job.transfer.ask_keyring();
    lock.lock();
    go_on(job);
    api_->wake(pool_);
  }
  if (!job.complete) {
    lock.unlock();
    job.transfer.complete(job.prepare);
    lock.lock();
  }
  Result<HttpResponse> response = job.transfer.take_response();
  jobs_.erase(&job);
  return response;
}

void HttpTransport::wait_for(Job& job, std::unique_lock<std::mutex>& lock) {
  for (std::uint64_t seen = 0; job.state != Job::State::settled;) {
    if (job.state == Job::State::unprepared) {
      std::erase(to_prepare_, &job);
      prepare(job, lock);
      continue;
    }
    if (WhileWaiting::wanted() && seen != arrivals_) {
      seen = arrivals_;
      lock.unlock();
      WhileWaiting::work();
      lock.lock();
      continue;
    }
    if (to_prepare_.empty()) {
      settled_.wait(lock);
    } else {
      prepare_next(lock);
    }
  }
}

void HttpTransport::prepare(Job& job, std::unique_lock<std::mutex>& lock) {
  job.state = Job::State::preparing;
  lock.unlock();
  job.transfer.complete(job.prepare);
  lock.lock();
  job.complete = true;
  settle(job);
}

void HttpTransport::prepare_next(std::unique_lock<std::mutex>& lock) {
  Job& job = *to_prepare_.front();
  to_prepare_.pop_front();
  prepare(job, lock);
}

void HttpTransport::prepare_all() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (to_prepare_.empty()) {
      unprepared_.wait(lock);
    } else {
      prepare_next(lock);
    }
  }
}

void HttpTransport::settle(Job& job) {
  job.state = Job::State::settled;
  count_ahead(job);
  ++arrivals_;
  settled_.notify_all();
}

void HttpTransport::count_ahead(Job& job) {
  const bool was_full = bytes_ahead_ >= most_bytes_ahead;
  const std::size_t bytes = job.awaited ? 0 : job.transfer.body_size();
  bytes_ahead_ += bytes;
  bytes_ahead_ -= std::exchange(job.bytes_ahead, bytes);
  if (was_full && bytes_ahead_ < most_bytes_ahead) api_->wake(pool_);
}

void HttpTransport::go_on(Job& job) {
  const HttpTransfer::Next next = job.transfer.next();
  job.state = Job::State::travelling;
  if (next == HttpTransfer::Next::pause) {
    paused_.emplace(job.transfer.resumes_at(), &job);
    return;
  }
  if (next == HttpTransfer::Next::exchange) {
    job.server = job.transfer.server();
    queue_.add(job);
    return;
  }
  if (job.transfer.status() == 206) range_servers_.insert(url_origin(job.transfer.request().url));
  if (next == HttpTransfer::Next::keyring || !job.prepare) return settle(job);
  count_ahead(job);
  job.state = Job::State::unprepared;
  to_prepare_.push_back(&job);
  unprepared_.notify_one();
  settled_.notify_all();
}

void HttpTransport::transfer_all() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    begin_waiting();
    const auto pause = time_to_next();
    lock.unlock();
    api_->run(pool_, static_cast<std::int32_t>(pause.count()));
    const std::vector<Ended> ended = take_ended();
    lock.lock();
    for (const Ended& one : ended) {
      queue_.end(*one.job, one.server, one.head);
      go_on(*one.job);
    }
  }
}

void HttpTransport::begin_waiting() {
  while (!paused_.empty() && paused_.begin()->first <= Clock::now()) {
    Job& job = *paused_.begin()->second;
    paused_.erase(paused_.begin());
    job.server = job.transfer.server();
    queue_.add(job);
  }
  while (QueuedRequest* const next = queue_.begin_next(bytes_ahead_ < most_bytes_ahead)) {
    Job& job = static_cast<Job&>(*next);
    const AxleCurlExchange& call = job.transfer.begin();
    if (api_->begin(pool_, &call) == 0) {
      running_.emplace(&call, &job);
      continue;
    }
    job.transfer.give_up();
    queue_.end(job, job.server, {});
    go_on(job);
  }
}

std::chrono::milliseconds HttpTransport::time_to_next() const {
  constexpr std::chrono::milliseconds longest{60'000};
  if (paused_.empty()) return longest;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(paused_.begin()->first - Clock::now());
  return std::clamp(left, std::chrono::milliseconds(0), longest);
}

std::vector<HttpTransport::Ended> HttpTransport::take_ended() {
  std::vector<Ended> ended;
  AxleCurlOutcome outcome{};
  while (const AxleCurlExchange* const call = api_->take_done(pool_, &outcome)) {
    const auto place = running_.find(call);
    Job* const job = place->second;
    running_.erase(place);
    std::string server = job->transfer.server();
    ended.push_back({job, std::move(server), job->transfer.end(outcome)});
  }
  return ended;
}

}  // namespace

std::unique_ptr<Transport> make_http_transport(TransportOptions options) {
  return std::make_unique<HttpTransport>(std::move(options));
}

}  // namespace axle::index
