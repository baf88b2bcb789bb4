#include "detect/drivers/children.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "foundation/system/child_process.h"
#include "foundation/system/descriptor.h"
#include "foundation/system/program_run.h"

namespace axle::detect {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_output = 256 * 1024;
constexpr int look_after_children_ms = 50;
/// The child's last line: without it an exit is one that the library made.
constexpr std::string_view farewell = "done\n";

struct Child {
  system::ChildProcess process;
  bool started = false;
  system::Descriptor output;  ///< our end of its pipe; unset once closed
  bool overflowed = false;
  bool timed_out = false;
  system::Ending ending;
  std::string text;
};

/// Isolated from its parent: its own session, no streams, no core dump, no descriptors but those it
/// is given; it ends with the parent.
system::ChildSettings stranger(std::chrono::milliseconds time_limit) {
  system::ChildSettings settings;
  settings.group = system::Group::session;
  settings.dumps_core = false;
  // CPU time is limited even while the parent is stopped and cannot kill it. Drivers may use
  // several CPUs at once.
  settings.cpu_time = std::chrono::seconds((time_limit.count() / 1000 + 1) * 16);
  return settings;
}

/// Forks; `work` runs in the child with its end of the pipe.
Child start_child(const std::function<void(int)>& work, std::chrono::milliseconds time_limit) {
  // The first descriptor after the standard streams, which are /dev/null.
  constexpr int output_place = 3;
  Child child;
  auto pipe = system::make_pipe();
  if (!pipe) return child;
  system::ChildSettings settings = stranger(time_limit);
  settings.places = {system::nowhere, system::nowhere, system::nowhere, pipe->write.get()};
  auto forked = system::fork_child(settings, [&] { work(output_place); });
  if (!forked) return child;
  child.process = std::move(*forked);
  child.started = true;
  ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK);
  child.output = std::move(pipe->read);
  return child;
}

bool said_farewell(const Child& child) {
  std::string_view text = child.text;
  if (!text.ends_with(farewell)) return false;
  text.remove_suffix(farewell.size());
  return text.empty() || text.ends_with('\n');
}

/// Reads what the pipe holds, and closes it at its end, after the child's last line, or when the
/// child's output exceeds the limit. False if it is closed or empty.
bool read_some(Child& child) {
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(child.output.get(), buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return true;
  if (got < 0 && errno == EAGAIN) return false;
  if (got > 0) {
    child.text.append(buffer.data(), static_cast<std::size_t>(got));
    child.overflowed = child.text.size() > most_output;
    if (!child.overflowed && !said_farewell(child)) return true;
  }
  if (child.overflowed) child.process.kill();
  child.output.reset();
  return false;
}

/// Children that have ended have written everything, although a process that they started may still
/// hold their pipe open.
void close_pipes_of_dead(std::span<Child* const> children) {
  for (Child* const child : children) {
    if (!child->process.has_ended()) continue;
    while (read_some(*child)) continue;
    child->output.reset();
  }
}

int remaining_ms(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

/// Reads until every pipe is closed or the deadline has passed.
void gather(std::span<Child> children, Clock::time_point deadline) {
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<Child*> owners;
    for (Child& child : children) {
      if (!child.output) continue;
      waiting.push_back({child.output.get(), POLLIN, 0});
      owners.push_back(&child);
    }
    if (waiting.empty()) return;
    const int pause = std::min(remaining_ms(deadline), look_after_children_ms);
    const int ready = ::poll(waiting.data(), waiting.size(), pause);
    if (ready < 0 && errno != EINTR) return;
    for (std::size_t i = 0; ready > 0 && i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) read_some(*owners[i]);
    }
    if (ready == 0) close_pipes_of_dead(owners);
    if (Clock::now() >= deadline) return;
  }
}

/// A child whose pipe is closed is about to end, unless it closed the pipe and continues.
void await_end(Child& child, Clock::time_point deadline) {
  if (said_farewell(child) || child.overflowed || child.output) return;
  static_cast<void>(
      child.process.wait_until(std::max(deadline, Clock::now() + system::ChildProcess::patience)));
}

/// Kills the rest of every child's group, then reaps it. A process inside a broken driver may not
/// end at all (state D), and is left to init.
void finish(std::span<Child> children, Clock::time_point deadline) {
  for (Child& child : children) {
    await_end(child, deadline);
    // This process may have been stopped itself, and resume with a complete answer in the pipe.
    while (child.output && read_some(child)) continue;
    child.timed_out = !child.overflowed && !said_farewell(child) && !child.process.has_ended();
    child.process.kill();
    child.output.reset();
  }
  const auto give_up = Clock::now() + system::ChildProcess::patience;
  for (Child& child : children) child.ending = child.process.reap(give_up);
}

DriverAnswer conclude(Child&& child) {
  DriverAnswer answer;
  if (!child.started) return answer;
  const bool done = said_farewell(child);
  if (done) child.text.resize(child.text.size() - farewell.size());
  answer.lines = std::move(child.text);
  if (done) {
    answer.end = DriverAnswer::End::finished;
  } else if (child.timed_out) {
    answer.end = DriverAnswer::End::timed_out;
  } else {
    answer.end = DriverAnswer::End::crashed;
    answer.signal = child.ending.signal;
  }
  return answer;
}

[[noreturn]] void answer_in_child(GpuVendor vendor, AskVendor ask, int output) {
  try {
    LineSink sink(output);
    ask(vendor, sink);
    sink.say("done");
  } catch (...) {
    system::leave(1);
  }
  system::leave(0);
}

}  // namespace

std::vector<DriverAnswer> ask_in_children(std::span<const GpuVendor> vendors, AskVendor ask,
                                          std::chrono::milliseconds time_limit) {
  const auto deadline = Clock::now() + time_limit;
  std::vector<Child> children;
  children.reserve(vendors.size());
  for (const GpuVendor vendor : vendors) {
    children.push_back(
        start_child([&](int output) { answer_in_child(vendor, ask, output); }, time_limit));
  }
  gather(children, deadline);
  std::vector<DriverAnswer> answers;
  answers.reserve(children.size());
  finish(children, deadline);
  for (Child& child : children) answers.push_back(conclude(std::move(child)));
  return answers;
}

ProgramAnswer run_in_child(const std::string& command, std::chrono::milliseconds time_limit) {
  system::Program program;
  for (std::size_t begin = 0; begin <= command.size();) {
    const std::size_t end = std::min(command.find(' ', begin), command.size());
    program.arguments.push_back(command.substr(begin, end - begin));
    begin = end + 1;
  }
  system::ProgramSettings settings;
  settings.time_limit = time_limit;
  settings.most_output = most_output;
  settings.errors = system::ErrorStream::with_output;
  settings.kills_leftovers = true;
  settings.child = stranger(time_limit);
  auto run = system::run_program(program, settings);
  if (!run) return {"", true};
  return {std::move(run->out), !run->timed_out};
}

}  // namespace axle::detect
