#include "providers/plugins/sandbox.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <expected>
#include <optional>
#include <system_error>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "providers/plugins/confined_process.h"
#include "providers/plugins/landlock.h"
#include "providers/plugins/session_use.h"
#include "providers/plugins/syscall_filter.h"
#include "providers/plugins/watch.h"

namespace axle::plugins {
namespace {

using Clock = std::chrono::steady_clock;

/// How often a child without a pidfd is checked.
constexpr int tick_ms = 5;
/// How often a child is checked otherwise.
constexpr int longest_wait_ms = 25;

/// A child from its start to its end.
class Run {
 public:
  Run(const ConfinedTask& task, const SandboxSupport& support,
      const std::expected<OrphanGuard, std::error_code>& guard)
      : task_(task) {
    started_ = Clock::now();
    if (!guard) {
      result_.why = "its guard process cannot be created";
      return;
    }
    std::optional<ConfinedProcess> process = start_confined(task, support, *guard, result_.why);
    if (!process) return;
    process_ = std::move(*process);
    if (task.watched) watch_ = Watch(process_.child.id(), process_.ended.get());
    deadline_ = started_ + task.limits.time;
    next_census_ = started_ + pause_after_look({});
    running_ = true;
  }
  Run(Run&& other) noexcept = default;

  [[nodiscard]] bool running() const { return running_; }
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }
  [[nodiscard]] bool has_pidfd() const { return static_cast<bool>(process_.ended); }

  void append_waiting(std::vector<pollfd>& waiting) const {
    for (const system::Descriptor* end :
         {&process_.answer, &process_.stdout_, &process_.stderr_, &process_.ended}) {
      if (*end) waiting.push_back({end->get(), POLLIN, 0});
    }
    if (watch_.descriptor() >= 0) waiting.push_back({watch_.descriptor(), POLLIN, 0});
  }

  /// Reads available output and checks whether the child has ended or has to.
  void look() {
    watched_ = watched_ || watch_.descriptor() >= 0;
    watch_.attend();
    drain();
    if (result_.end != TaskEnd::flooded && process_.child.has_ended()) return conclude();
    if (result_.end == TaskEnd::flooded) return put_down();
    if (takes_too_much()) result_.end = TaskEnd::swarmed;
    if (Clock::now() >= deadline_) result_.end = TaskEnd::timed_out;
    if (result_.end != TaskEnd::not_started) put_down();
  }

  [[nodiscard]] TaskResult take() { return std::move(result_); }

 private:
  void drain() {
    take_from(process_.answer, result_.answer, task_.limits.answer + 1, true);
    if (task_.answer_on_stdout) {
      take_from(process_.stdout_, result_.answer, task_.limits.answer + 1, true);
    } else {
      take_from(process_.stdout_, result_.printed, task_.limits.printed, false);
    }
    take_from(process_.stderr_, result_.printed, task_.limits.printed, false);
  }

  /// Output beyond `most` is skipped; more than `flood` of it, or an answer that is too long, ends
  /// the child.
  void take_from(system::Descriptor& end, std::string& text, std::size_t most, bool is_answer) {
    std::array<char, 16384> buffer;
    while (end) {
      const ssize_t got = ::read(end.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        end.reset();
        return;
      }
      const auto size = static_cast<std::size_t>(got);
      text.append(buffer.data(), std::min(size, most - std::min(most, text.size())));
      seen_ += size;
      if ((is_answer && text.size() >= most) || seen_ > task_.limits.flood) {
        result_.end = TaskEnd::flooded;
        return;
      }
    }
  }

  bool takes_too_much() {
    const auto before = Clock::now();
    if (before < next_census_) return false;
    const SessionUse use = read_session_use(process_.child.id(), process_.alone);
    const auto after = Clock::now();
    next_census_ = after + pause_after_look(after - before);
    return use.tasks > task_.limits.tasks || use.resident > task_.limits.memory;
  }

  void conclude() {
    process_.child.kill();  // what it started
    drain();
    const system::Ending ending = process_.child.reap();
    result_.peak_memory = ending.peak_memory;
    if (result_.end == TaskEnd::flooded) return finish();
    StartTrouble trouble;
    if (::read(process_.trouble.get(), &trouble, sizeof(trouble)) == sizeof(trouble)) {
      result_.end = TaskEnd::not_started;
      result_.why = render_trouble(trouble);
    } else if (ending.signal != 0) {
      result_.end = TaskEnd::crashed;
      result_.code = ending.signal;
      // RLIMIT_CPU is the time limit of a group whose parent is gone.
      if (result_.code == SIGXCPU) result_.end = TaskEnd::timed_out;
    } else {
      result_.end = TaskEnd::exited;
      result_.code = ending.known ? ending.exit_code : 0;
    }
    finish();
  }

  /// Kills the group. A process inside a broken driver may not end at all (state D): after a moment
  /// it is left to init.
  void put_down() {
    process_.child.kill();
    static_cast<void>(process_.child.wait_until(Clock::now() + system::ChildProcess::patience));
    process_.child.kill();  // what was made meanwhile
    static_cast<void>(process_.child.reap(Clock::now()));
    finish();
  }

  void finish() {
    for (system::Descriptor* end : {&process_.answer, &process_.stdout_, &process_.stderr_,
                                    &process_.trouble, &process_.ended})
      end->reset();
    running_ = false;
    if (watched_) result_.attempts = watch_.attempts();
    result_.duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
  }

  const ConfinedTask& task_;
  ConfinedProcess process_;
  TaskResult result_;
  Clock::time_point started_;
  Clock::time_point deadline_;
  Clock::time_point next_census_;
  Watch watch_;
  bool watched_ = false;  ///< from the start on
  std::size_t seen_ = 0;
  bool running_ = false;
};

int wait_ms(std::span<const Run> runs) {
  auto deadline = Clock::time_point::max();
  bool ticks = false;
  for (const Run& run : runs) {
    if (!run.running()) continue;
    deadline = std::min(deadline, run.deadline());
    ticks = ticks || !run.has_pidfd();
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, ticks ? tick_ms : longest_wait_ms));
}

}  // namespace

std::vector<TaskResult> run_confined(std::span<const ConfinedTask> tasks,
                                     const SandboxSupport& support) {
  const auto guard = OrphanGuard::start();
  std::vector<Run> runs;
  runs.reserve(tasks.size());
  for (const ConfinedTask& task : tasks) runs.emplace_back(task, support, guard);
  while (std::ranges::any_of(runs, &Run::running)) {
    std::vector<pollfd> waiting;
    for (const Run& run : runs) {
      if (run.running()) run.append_waiting(waiting);
    }
    ::poll(waiting.data(), waiting.size(), wait_ms(runs));
    for (Run& run : runs) {
      if (run.running()) run.look();
    }
  }
  std::vector<TaskResult> results;
  results.reserve(runs.size());
  for (Run& run : runs) results.push_back(run.take());
  return results;
}

SandboxSupport probe_sandbox() {
  SandboxSupport support{landlock_abi(), has_syscall_filters(), {}};
  const auto lack = [&](const char* what) { support.lacks.emplace_back(what); };
  if (support.landlock == 0) {
    lack(
        "no Landlock (Linux 5.13): plugins can read every file that you can read, and the programs "
        "and devices in the table of exceptions are denied");
  }
  if (!support.seccomp) {
    lack("no system call filters (CONFIG_SECCOMP_FILTER): plugins can create processes");
    if (support.landlock < 6)
      lack("no Landlock ABI 6 (Linux 6.12) either: plugins can signal other processes");
    if (support.landlock < 4) {
      lack("no Landlock ABI 4 (Linux 6.7) either: plugins can use the network");
    } else {
      lack("Landlock only prevents TCP: plugins can use other protocols");
    }
    if (support.landlock == 0) lack("plugins can write files that you can write");
  }
  return support;
}

}  // namespace axle::plugins
