#pragma once
// Threads that sleep between calls: after work they look out for more for some tens of
// microseconds (a model runs layer after layer), then wait in the kernel.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace axle::runtime {

class ThreadPool {
 public:
  static constexpr int most_threads = 256;

  /// `threads` counts the caller. No thread starts before the first `run` that needs one.
  explicit ThreadPool(int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] int threads() const { return threads_; }

  /// The pool serves one caller at a time: false when another one has it.
  [[nodiscard]] bool try_acquire();
  void release();

  /// Starts the threads that do not exist yet; returns how many parts of a run go on at the same
  /// time, the caller's included: fewer than threads() where the system gives no more threads.
  int start();

  /// Calls task(t) for every t in [0, threads()), t = 0 on the calling thread; returns when all
  /// have returned. Only between try_acquire and release. Where the system gives no threads, the
  /// caller does all the work.
  template <class Task>
  void run(Task& task) {
    run_erased([](void* context, int thread) { (*static_cast<Task*>(context))(thread); }, &task);
  }

 private:
  using Function = void (*)(void* context, int thread);
  struct Worker {
    ThreadPool* pool;
    int index;
    std::uint32_t seen;  ///< generation at the start of the thread
    pthread_t thread;
  };

  void run_erased(Function function, void* context);
  void work(const Worker& self);
  static void* worker_main(void* worker);

  int threads_;
  int started_ = 0;  ///< threads that exist, without the caller
  /// Process id of the owner, times two, plus one while a caller has the pool. After a fork the id
  /// differs: the threads are not in the child, and whoever had the pool in the parent is not
  /// either.
  std::atomic<std::int64_t> owner_;
  Function function_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<std::uint32_t> pending_{0};
  std::atomic<bool> caller_sleeps_{false};
  Worker workers_[most_threads];
};

/// Where parts of a run wait for each other: those below the number that ThreadPool::start returned
/// go on at the same time, others may wait for ever. For one use.
class Barrier {
 public:
  explicit Barrier(std::size_t parts) : parts_(static_cast<std::uint32_t>(parts)) {}

  /// Returns when all parts have called it.
  void wait();

 private:
  std::uint32_t parts_;
  alignas(64) std::atomic<std::uint32_t> arrived_{0};
  std::atomic<bool> asleep_{false};
};

/// CPUs that this process may run on, 1 to ThreadPool::most_threads.
[[nodiscard]] int available_cpus();

}  // namespace axle::runtime
