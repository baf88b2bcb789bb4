#include "foundation/system/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>
#include <signal.h>

namespace axle::system {
namespace {

/// A thread begins with the mask of the one that starts it.
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &former_);
  }
  ~SignalsHeldBack() { ::pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

 private:
  sigset_t former_{};
};

class Calls {
 public:
  Calls(std::size_t count, const std::function<void(std::size_t)>& work)
      : count_(count), work_(work) {}

  /// Takes calls until there are none left. Throws nothing.
  void take() noexcept {
    for (std::size_t i = next_++; i < count_; i = next_++) {
      try {
        work_(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (thrown_ == nullptr) thrown_ = std::current_exception();
        next_ = count_;
      }
    }
  }

  void rethrow() const {
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  }

 private:
  std::size_t count_;
  const std::function<void(std::size_t)>& work_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0)  // more than 1,024 processors
    return std::max(std::thread::hardware_concurrency(), 1U);
  return std::max(static_cast<unsigned>(CPU_COUNT(&set)), 1U);
}

void for_each_at_once(std::size_t count, unsigned threads,
                      const std::function<void(std::size_t)>& work) {
  Calls calls(count, work);
  std::vector<std::thread> others;
  if (count > 1 && threads > 1) {
    const std::size_t wanted = std::min<std::size_t>(threads, count) - 1;
    others.reserve(wanted);
    const SignalsHeldBack held_back;
    while (others.size() < wanted) {
      try {
        others.emplace_back([&] { calls.take(); });
      } catch (const std::system_error&) {
        break;  // the limit of processes
      }
    }
  }
  calls.take();
  for (std::thread& other : others) other.join();
  calls.rethrow();
}

}  // namespace axle::system
