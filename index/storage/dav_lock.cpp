#include "index/storage/dav_lock.h"

#include <chrono>
#include <random>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/signals_blocked.h"
#include "index/http/redaction.h"

namespace axle::index {
namespace {

using Clock = std::chrono::steady_clock;

/// A lock of a command that was killed ends after so long.
constexpr unsigned lock_seconds = 60;
constexpr auto time_between_keeps = std::chrono::seconds(20);
constexpr auto longest_wait = std::chrono::seconds(100);

}  // namespace

Result<std::unique_ptr<DavLock>> DavLock::take(DavClient& client, std::string path) {
  std::random_device random;
  std::uniform_int_distribution<int> pause(20, 250);
  for (const auto deadline = Clock::now() + longest_wait;;) {
    auto token = client.lock(path, lock_seconds);
    if (!token) return std::unexpected(std::move(token.error()));
    if (*token)
      return std::unique_ptr<DavLock>(new DavLock(client, std::move(path), std::move(**token)));
    if (Clock::now() > deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(pause(random)));
  }
  return fail(ErrorKind::io,
              fmt::format("another command has held {} for {} seconds",
                          redact_url(client.url(path)), longest_wait.count()),
              "run the command again when it has finished");
}

DavLock::DavLock(DavClient& client, std::string path, std::string token)
    : client_(client), path_(std::move(path)), token_(std::move(token)) {
  try {
    const system::SignalsBlocked blocked;
    keeper_ = std::thread([this] { keep(); });
  } catch (const std::system_error&) {
    ended_ = true;  // nobody keeps it: it lasts as long as the server lets it
  }
}

DavLock::~DavLock() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  if (keeper_.joinable()) keeper_.join();
  if (!lost_) client_.unlock(path_, token_);
}

void DavLock::keep() {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, time_between_keeps, [this] { return ended_; })) {
    lock.unlock();
    const auto kept = client_.keep_lock(path_, token_, lock_seconds);
    if (kept && !*kept) lost_ = true;
    lock.lock();
  }
}

bool DavLock::still_holds() {
  if (lost_) return false;
  const auto kept = client_.keep_lock(path_, token_, lock_seconds);
  if (!kept || !*kept) lost_ = true;
  return !lost_;
}

}  // namespace axle::index
