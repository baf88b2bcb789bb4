#pragma once
// One call at a time works on a model; others wait, except where that would be for ever.

#include <atomic>
#include <cstdint>

#include <pthread.h>
#include <unistd.h>

namespace axle::runtime {

class ModelUse {
 public:
  enum class Answer : std::uint8_t {
    taken,
    by_this_thread,  ///< which has it, and calls from a function that it was given
    before_fork      ///< it was in use when this process was forked: whoever had it is not here
  };

  /// Waits while another thread has it.
  [[nodiscard]] Answer take() {
    const std::int64_t held = getpid();
    for (;;) {
      std::int64_t seen = holder_.load();
      if (seen == 0) {
        if (!holder_.compare_exchange_strong(seen, held)) continue;
        thread_.store(pthread_self());
        return Answer::taken;
      }
      if (seen != held) return Answer::before_fork;
      if (thread_.load() == pthread_self()) return Answer::by_this_thread;
      holder_.wait(seen);
    }
  }

  void release() {
    thread_.store({});
    holder_.store(0);
    holder_.notify_one();
  }

 private:
  std::atomic<std::int64_t> holder_{0};  ///< a process; 0: free
  std::atomic<pthread_t> thread_{};      ///< of the holder
};

}  // namespace axle::runtime
