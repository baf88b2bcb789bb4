#include "foundation/system/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>

#include "foundation/system/signals_blocked.h"

namespace axle::system {
namespace {

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

unsigned threads_within(std::span<const std::uint64_t> sizes, unsigned threads,
                        std::uint64_t most) {
  std::uint64_t sum = 0;
  unsigned fitting = 0;
  for (const std::uint64_t size : sizes) {
    if (fitting == threads || size > most - sum) break;
    sum += size;
    ++fitting;
  }
  return std::max(1U, fitting);
}

void for_each_at_once(std::size_t count, unsigned threads,
                      const std::function<void(std::size_t)>& work) {
  Calls calls(count, work);
  // Joined also where there is no memory for the next one.
  std::vector<std::jthread> others;
  if (count > 1 && threads > 1) {
    const std::size_t wanted = std::min<std::size_t>(threads, count) - 1;
    others.reserve(wanted);
    const SignalsBlocked blocked;
    while (others.size() < wanted) {
      try {
        others.emplace_back([&] { calls.take(); });
      } catch (const std::system_error&) {
        break;  // the limit of processes
      }
    }
  }
  calls.take();
  others.clear();
  calls.rethrow();
}

}  // namespace axle::system
