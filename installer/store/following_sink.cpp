#include "installer/store/following_sink.h"

#include <system_error>
#include <utility>

#include "foundation/system/signals_blocked.h"

namespace axle::installer {

FollowingSink::FollowingSink(wheel::ZipReader::Sink sink) : sink_(std::move(sink)) {
  try {
    const system::SignalsBlocked blocked;
    thread_ = std::thread([this] { follow(); });
  } catch (const std::system_error&) {
    return;  // the limit of processes: `take` does the work
  }
}

FollowingSink::~FollowingSink() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
  }
  given_.notify_one();
  thread_.join();
}

Result<void> FollowingSink::outcome() const {
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  if (error_) return std::unexpected(*error_);
  return {};
}

Result<void> FollowingSink::take(std::span<const std::byte> bytes) {
  if (!thread_.joinable()) return sink_(bytes);
  Buffer buffer;
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] {
      return error_ || thrown_ != nullptr || !free_.empty() || made_ < most_buffers;
    });
    if (auto good = outcome(); !good) return good;
    if (free_.empty()) {
      ++made_;
    } else {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
  }
  buffer.assign(bytes.begin(), bytes.end());
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(buffer));
  }
  given_.notify_one();
  return {};
}

Result<void> FollowingSink::finish() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return error_ || thrown_ != nullptr || (waiting_.empty() && !working_); });
  return outcome();
}

void FollowingSink::follow() {
  std::unique_lock lock(mutex_);
  while (true) {
    given_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    Buffer buffer = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    working_ = true;
    lock.unlock();
    Result<void> done;
    std::exception_ptr thrown;
    try {
      done = sink_(buffer);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    working_ = false;
    free_.push_back(std::move(buffer));
    if (!done) error_ = std::move(done.error());
    thrown_ = thrown;
    done_.notify_all();
    if (error_ || thrown_ != nullptr) return;
  }
}

}  // namespace axle::installer
