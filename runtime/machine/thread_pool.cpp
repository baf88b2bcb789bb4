#include "runtime/machine/thread_pool.h"

#include <csignal>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/machine/old_glibc.h"

namespace axle::runtime {
namespace {

/// Some tens of microseconds: a PAUSE takes 40 to 140 cycles.
constexpr int spins = 1000;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void wait_while(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 0x7fffffff, nullptr, nullptr, 0);
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : threads_(threads < 1              ? 1
               : threads > most_threads ? most_threads
                                        : threads),
      owner_(std::int64_t{getpid()} * 2) {}

ThreadPool::~ThreadPool() {
  if (started_ == 0 || owner_.load() / 2 != getpid()) return;
  stopping_.store(true);
  generation_.fetch_add(1);
  wake_all(generation_);
  for (int i = 0; i < started_; ++i) pthread_join(workers_[i].thread, nullptr);
}

bool ThreadPool::try_acquire() {
  const std::int64_t pid = getpid();
  std::int64_t owner = owner_.load();
  if (owner == pid * 2 + 1) return false;
  if (!owner_.compare_exchange_strong(owner, pid * 2 + 1)) return false;
  if (owner / 2 != pid) {
    started_ = 0;
    sleepers_.store(0);
    caller_sleeps_.store(false);
  }
  return true;
}

/// Of the process that acquired it, which is this one or is a parent's; then the id differs.
void ThreadPool::release() { owner_.store(owner_.load(std::memory_order_relaxed) / 2 * 2); }

int ThreadPool::start() {
  if (started_ == threads_ - 1) return threads_;
  // Signals are the program's business: its handlers should not run on our threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  while (started_ < threads_ - 1) {
    Worker& worker = workers_[started_];
    worker.pool = this;
    worker.index = started_ + 1;
    worker.seen = generation_.load();
    if (pthread_create(&worker.thread, nullptr, worker_main, &worker) != 0) break;
    ++started_;
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return started_ + 1;
}

void ThreadPool::run_erased(Function function, void* context) {
  start();
  function_ = function;
  context_ = context;
  pending_.store(static_cast<std::uint32_t>(started_), std::memory_order_relaxed);
  generation_.fetch_add(1);
  if (sleepers_.load() > 0) wake_all(generation_);
  function(context, 0);
  for (int missing = started_ + 1; missing < threads_; ++missing) function(context, missing);
  for (int spin = 0; spin < spins && pending_.load(std::memory_order_acquire) != 0; ++spin)
    pause_briefly();
  // Said only when it is so: a worker that ends just now would wake nobody by a system call.
  if (pending_.load(std::memory_order_acquire) == 0) return;
  caller_sleeps_.store(true);
  for (std::uint32_t left = pending_.load(); left != 0; left = pending_.load())
    wait_while(pending_, left);
  caller_sleeps_.store(false);
}

void ThreadPool::work(const Worker& self) {
  std::uint32_t seen = self.seen;
  for (;;) {
    for (int spin = 0; generation_.load(std::memory_order_acquire) == seen; ++spin) {
      if (spin < spins) {
        pause_briefly();
      } else {
        sleepers_.fetch_add(1);
        wait_while(generation_, seen);
        sleepers_.fetch_sub(1);
      }
    }
    ++seen;
    if (stopping_.load()) return;
    function_(context_, self.index);
    pending_.fetch_sub(1);
    if (caller_sleeps_.load()) wake_all(pending_);
  }
}

void* ThreadPool::worker_main(void* worker) {
  const Worker& self = *static_cast<Worker*>(worker);
  self.pool->work(self);
  return nullptr;
}

void Barrier::wait() {
  if (arrived_.fetch_add(1) + 1 == parts_) {
    if (asleep_.load()) wake_all(arrived_);
    return;
  }
  for (int spin = 0; spin < spins; ++spin) {
    if (arrived_.load(std::memory_order_acquire) == parts_) return;
    pause_briefly();
  }
  asleep_.store(true);
  for (std::uint32_t now = arrived_.load(); now != parts_; now = arrived_.load())
    wait_while(arrived_, now);
}

int available_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count > ThreadPool::most_threads ? ThreadPool::most_threads : count;
}

}  // namespace axle::runtime
