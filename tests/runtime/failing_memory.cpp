#include "tests/runtime/failing_memory.h"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include <pthread.h>
#include <time.h>

namespace axle::runtime::testing {
namespace {

using From = FailingMemory::From;

std::atomic<bool> armed{false};
std::atomic<std::size_t> left{0};  ///< that succeed
std::size_t first = 0;             ///< value of `left`
std::atomic<std::size_t> failures{0};
From from = From::one;
pthread_t owner;

int waits = 0;  ///< that are left

/// Until another thread has failed, in all for some seconds.
void wait_for_others() {
  for (; failures.load() == 0 && waits > 0; --waits) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

bool must_fail() {
  if (!armed.load()) return false;
  if (from == From::other_threads) {
    if (pthread_equal(pthread_self(), owner) != 0) {
      wait_for_others();
      return false;
    }
  } else {
    std::size_t now = left.load();
    while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
    }
    if (now > 0) return false;
    if (from == From::one) left.store(std::numeric_limits<std::size_t>::max());
  }
  failures.fetch_add(1);
  return true;
}

void* allocate(std::size_t bytes) {
  void* const data = must_fail() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace

FailingMemory::FailingMemory(From which, std::size_t after) {
  from = which;
  first = after;
  waits = 5000;
  left.store(after);
  failures.store(0);
  owner = pthread_self();
  armed.store(true);
}

FailingMemory::~FailingMemory() { armed.store(false); }

std::size_t FailingMemory::failed() const { return failures.load(); }

std::size_t FailingMemory::succeeded() const { return first - left.load(); }

}  // namespace axle::runtime::testing

void* operator new(std::size_t bytes) { return axle::runtime::testing::allocate(bytes); }
void* operator new[](std::size_t bytes) { return axle::runtime::testing::allocate(bytes); }
void operator delete(void* data) noexcept { std::free(data); }
void operator delete[](void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete[](void* data, std::size_t) noexcept { std::free(data); }
