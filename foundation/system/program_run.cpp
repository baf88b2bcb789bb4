#include "foundation/system/program_run.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace axle::system {
namespace {

using Clock = ChildProcess::Clock;

constexpr int look_after_child_ms = 50;
constexpr std::size_t piece_bytes = std::size_t{1} << 14;

/// A running group, for a signal handler.
struct RunningSlot {
  std::atomic<pid_t> leader = 0;  ///< 0: the slot is free
  std::atomic<bool> ends_its_own = false;
};
/// Programs beyond them end with this one too, but not their children.
std::array<RunningSlot, 256> running{};
std::atomic<bool> being_killed = false;

void end_group(pid_t leader, bool ends_its_own) {
  ::kill(-leader, ends_its_own ? SIGTERM : SIGKILL);
}

class RunningGroup {
 public:
  RunningGroup(const ChildProcess& leader, bool ends_its_own) {
    if (leader.group() == Group::shared) return;
    for (RunningSlot& slot : running) {
      pid_t none = 0;
      if (!slot.leader.compare_exchange_strong(none, leader.id())) continue;
      slot.ends_its_own = ends_its_own;
      place_ = &slot.leader;
      // It was started while the others were being killed.
      if (being_killed) end_group(leader.id(), ends_its_own);
      return;
    }
  }
  ~RunningGroup() { forget(); }
  RunningGroup(const RunningGroup&) = delete;
  RunningGroup& operator=(const RunningGroup&) = delete;
  /// Before the leader is reaped: its number may be reused afterwards.
  void forget() {
    if (place_ != nullptr) *place_ = 0;
    place_ = nullptr;
  }

 private:
  std::atomic<pid_t>* place_ = nullptr;
};

/// This process is about to end: nothing that happens to programs now is theirs to answer for.
void wait_while_killed() {
  constexpr timespec pause{0, 5'000'000};
  while (being_killed) ::nanosleep(&pause, nullptr);
}

/// Whether a member of the group is left; the leader is reaped, as it would count as one.
bool is_left(pid_t leader) {
  ::waitpid(leader, nullptr, WNOHANG);
  return ::kill(-leader, 0) == 0 || errno != ESRCH;
}

/// This program's environment without what is withheld, the program's own variables replacing those
/// of the same name.
std::vector<std::string> environment_of(const Program& program) {
  std::vector<std::string> environment;
  for (const auto& [name, value] : program.variables) environment.push_back(name + "=" + value);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced =
        std::ranges::any_of(program.variables, [&](const auto& one) { return one.first == name; });
    const bool withheld = std::ranges::any_of(
        program.withheld, [&](const std::string& begin) { return name.starts_with(begin); });
    if (!replaced && !withheld) environment.emplace_back(text);
  }
  return environment;
}

/// The program's path, searched in the PATH that it gets; "" if there is none.
std::string find_in_path(const std::string& name, const std::vector<std::string>& environment) {
  if (name.contains('/')) return name;
  std::string_view folders = "/bin:/usr/bin";
  for (const std::string_view entry : environment) {
    constexpr std::string_view key = "PATH=";
    if (entry.starts_with(key)) folders = entry.substr(key.size());
  }
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
    // An empty or relative entry means the working folder, from which programs are never run.
    if (!folder.starts_with('/')) continue;
    std::string file = std::string(folder) + '/' + name;
    struct stat status{};
    if (::access(file.c_str(), X_OK) == 0 && ::stat(file.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode))
      return file;
  }
  return {};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// A running program, and our ends of its streams.
struct Running {
  ChildProcess child;
  Descriptor out;
  Descriptor err;
};

/// The child's ends of the streams.
struct Streams {
  Descriptor out;
  Descriptor err;  ///< unset: as `out`, or /dev/null
};

std::expected<Streams, std::error_code> open_streams(const ProgramSettings& settings,
                                                     Running& started) {
  Streams streams;
  if (settings.log.empty()) {
    auto pipe = make_pipe();
    if (!pipe) return std::unexpected(pipe.error());
    started.out = std::move(pipe->read);
    streams.out = std::move(pipe->write);
  } else {
    constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    streams.out = Descriptor(::open(settings.log.c_str(), flags, 0644));
    if (!streams.out) return std::unexpected(last_error());
  }
  if (settings.errors == ErrorStream::apart) {
    auto pipe = make_pipe();
    if (!pipe) return std::unexpected(pipe.error());
    started.err = std::move(pipe->read);
    streams.err = std::move(pipe->write);
  }
  return streams;
}

/// The error of execve in the child; none once it runs.
std::error_code read_trouble(int trouble) {
  int number = 0;
  ssize_t got = 0;
  do {
    got = ::read(trouble, &number, sizeof(number));
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(number))) return {};
  return {number, std::generic_category()};
}

std::expected<Running, std::error_code> start(const Program& program,
                                              const ProgramSettings& settings) {
  // Everything that the child needs, prepared while memory can still be allocated.
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> environment = environment_of(program);
  const std::string path = find_in_path(arguments.front(), environment);
  if (path.empty())
    return std::unexpected(std::make_error_code(std::errc::no_such_file_or_directory));
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  Running started;
  auto streams = open_streams(settings, started);
  if (!streams) return std::unexpected(streams.error());
  auto trouble = make_pipe();
  if (!trouble) return std::unexpected(trouble.error());
  const bool joined = settings.errors == ErrorStream::with_output;
  ChildSettings child = settings.child;
  child.places = {nowhere, streams->out.get(), joined ? streams->out.get() : streams->err.get()};
  // If others are inherited, 3 may be one of them.
  constexpr int trouble_place = 3;
  if (!child.inherits_descriptors) child.places.push_back(trouble->write.get());
  const int trouble_end = child.inherits_descriptors ? trouble->write.get() : trouble_place;
  auto forked = fork_child(child, [&] {
    ::fcntl(trouble_end, F_SETFD, FD_CLOEXEC);
    if (program.folder.empty() || ::chdir(program.folder.c_str()) == 0)
      ::execve(path.c_str(), argv.data(), envp.data());
    const int number = errno;
    (void)!::write(trouble_end, &number, sizeof(number));
  });
  if (!forked) return std::unexpected(forked.error());
  trouble->write.reset();
  if (const std::error_code error = read_trouble(trouble->read.get()))
    return std::unexpected(error);
  started.child = std::move(*forked);
  return started;
}

class Collector {
 public:
  Collector(Running& program, const ProgramSettings& settings, ProgramOutput& output)
      : program_(program), settings_(settings), output_(output) {
    for (const Descriptor* end : {&program_.out, &program_.err}) {
      if (*end) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
    }
  }

  /// Reads until both streams are closed or the program has ended. False: a limit was exceeded; the
  /// output says which.
  [[nodiscard]] bool collect(Clock::time_point deadline) {
    while (program_.out || program_.err) {
      if (Clock::now() >= deadline) {
        // This process may have been stopped itself, and resume with the complete answer available.
        take_all();
        output_.timed_out = !output_.too_long && !program_.child.has_ended();
        return !output_.too_long && !output_.timed_out;
      }
      std::array<pollfd, 2> waiting{pollfd{program_.out.get(), POLLIN, 0},
                                    pollfd{program_.err.get(), POLLIN, 0}};
      ::poll(waiting.data(), waiting.size(), pause_ms(deadline));
      const bool ended = program_.child.has_ended();
      take_all();
      if (output_.too_long) return false;
      if (ended) return true;
    }
    return true;
  }

 private:
  static int pause_ms(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, look_after_child_ms));
  }

  /// The capacity of a pipe: a program that prints faster than it is read does not evade its time
  /// limit.
  void take_all() {
    constexpr std::size_t most = (std::size_t{1} << 20) / piece_bytes;
    for (std::size_t i = 0; i < most && take(program_.out, output_.out, true); ++i) continue;
    for (std::size_t i = 0; i < most && take(program_.err, output_.err, false); ++i) continue;
  }

  /// False: there is nothing more for now.
  bool take(Descriptor& end, std::string& text, bool is_output) {
    if (!end || output_.too_long) return false;
    std::array<char, piece_bytes> buffer;
    const ssize_t got = ::read(end.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) {
      end.reset();
      return false;
    }
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
    if (is_output && settings_.take_output) {
      settings_.take_output(piece);
      return true;
    }
    text += piece;
    output_.too_long = text.size() > settings_.most_output;
    return true;
  }

  Running& program_;
  const ProgramSettings& settings_;
  ProgramOutput& output_;
};

}  // namespace

std::expected<ProgramOutput, std::error_code> run_program(const Program& program,
                                                          const ProgramSettings& settings) {
  const auto deadline =
      settings.time_limit ? Clock::now() + *settings.time_limit : Clock::time_point::max();
  wait_while_killed();
  auto started = start(program, settings);
  if (!started) return std::unexpected(started.error());
  RunningGroup group(started->child, settings.ends_its_own);
  if (settings.meanwhile) settings.meanwhile();
  ProgramOutput output;
  const bool whole = Collector(*started, settings, output).collect(deadline);
  // A program whose streams are closed is about to end, unless it closed them and continues.
  const auto end =
      settings.time_limit ? std::max(deadline, Clock::now() + ChildProcess::patience) : deadline;
  if (whole) output.timed_out = !started->child.wait_until(end);
  wait_while_killed();
  if (!whole || output.timed_out || settings.kills_leftovers) started->child.kill();
  static_cast<void>(started->child.wait_until(Clock::now() + ChildProcess::patience));
  group.forget();
  output.exit_code = started->child.reap().exit_code;
  return output;
}

std::error_code replace_process(const Program& program) {
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> environment = environment_of(program);
  const std::string path = find_in_path(arguments.front(), environment);
  if (path.empty()) return std::make_error_code(std::errc::no_such_file_or_directory);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  sigset_t none;
  sigset_t before;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, &before);
  ::execve(path.c_str(), argv.data(), envp.data());
  const std::error_code error = last_error();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

void kill_running_programs() {
  constexpr timespec pause{0, 10'000'000};
  constexpr int most_pauses = 500;
  being_killed = true;
  for (const RunningSlot& slot : running) {
    if (const pid_t leader = slot.leader; leader > 0) end_group(leader, slot.ends_its_own);
  }
  int pauses = 0;
  for (const RunningSlot& slot : running) {
    const pid_t leader = slot.leader;
    if (leader <= 0 || !slot.ends_its_own) continue;
    while (is_left(leader) && pauses++ < most_pauses) ::nanosleep(&pause, nullptr);
    ::kill(-leader, SIGKILL);
  }
  being_killed = false;
}

}  // namespace axle::system
