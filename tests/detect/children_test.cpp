#include "detect/drivers/children.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "detect/drivers/driver_lines.h"

using namespace axle::detect;
using namespace std::chrono_literals;
using End = DriverAnswer::End;

namespace {

DriverAnswer ask_one(AskVendor ask, std::chrono::milliseconds limit = 20s) {
  constexpr std::array vendors{GpuVendor::nvidia};
  return ask_in_children(vendors, ask, limit).front();
}

[[noreturn]] void sleep_for_ever() {
  while (true) ::pause();
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

/// Whether a process of that number runs; one that is dead and not yet reaped by its parent does
/// not.
bool runs(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string number;
  std::string name;
  std::string state;
  return (file >> number >> name >> state) && state != "Z" && state != "X";
}

std::string field_of(const DriverAnswer& answer, std::string_view word) {
  for (const DriverLine& line : parse_driver_lines(answer.lines)) {
    if (line.word == word) return std::string(line.field(0));
  }
  return {};
}

/// Leaves a process behind that holds the pipe, as a driver's daemon would; it ends by itself.
void leave_behind(LineSink& sink, bool in_a_session_of_its_own) {
  const pid_t left = ::fork();
  if (left == 0) {
    if (in_a_session_of_its_own) ::setsid();
    ::alarm(10);
    sleep_for_ever();
  }
  sink.say("left", left);
}

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

}  // namespace

TEST_CASE("each vendor is asked in a child of its own and answers in order") {
  constexpr std::array vendors{GpuVendor::intel, GpuVendor::nvidia, GpuVendor::amd};
  const auto answers = ask_in_children(
      vendors, [](GpuVendor vendor, LineSink& sink) { sink.say(render_vendor(vendor)); }, 20s);
  REQUIRE(answers.size() == 3);
  CHECK(answers[0] == DriverAnswer{End::finished, 0, "intel\n"});
  CHECK(answers[1] == DriverAnswer{End::finished, 0, "nvidia\n"});
  CHECK(answers[2] == DriverAnswer{End::finished, 0, "amd\n"});
}

TEST_CASE("a child that hangs is killed, reaped, and keeps its lines") {
  const auto before = open_descriptors();
  const DriverAnswer answer = ask_one(
      [](GpuVendor, LineSink& sink) {
        sink.say("version", 12080);
        sleep_for_ever();
      },
      200ms);
  CHECK(answer == DriverAnswer{End::timed_out, 0, "version\t12080\n"});
  CHECK_FALSE(has_children());
  CHECK(open_descriptors() == before);
}

TEST_CASE("a child that ignores every signal it can is killed all the same") {
  const DriverAnswer answer = ask_one(
      [](GpuVendor, LineSink&) {
        sigset_t all;
        sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, nullptr);
        sleep_for_ever();
      },
      200ms);
  CHECK(answer.end == End::timed_out);
  CHECK_FALSE(has_children());
}

TEST_CASE("one child that hangs does not silence the others") {
  constexpr std::array vendors{GpuVendor::nvidia, GpuVendor::amd};
  const auto answers = ask_in_children(
      vendors,
      [](GpuVendor vendor, LineSink& sink) {
        if (vendor == GpuVendor::nvidia) sleep_for_ever();
        sink.say("here");
      },
      300ms);
  CHECK(answers[0].end == End::timed_out);
  CHECK(answers[1] == DriverAnswer{End::finished, 0, "here\n"});
}

TEST_CASE("processes that a library leaves behind block nothing, and are killed") {
  const DriverAnswer answer = ask_one([](GpuVendor, LineSink& sink) { leave_behind(sink, false); });
  CHECK(answer.end == End::finished);
  const std::string left = field_of(answer, "left");
  REQUIRE_FALSE(left.empty());
  // SIGKILL has been sent; the process may take a moment to be gone.
  for (int i = 0; i < 1000 && runs(left); ++i) ::usleep(5000);
  CHECK_FALSE(runs(left));
}

TEST_CASE("a crash is a crash though someone holds the pipe") {
  for (const bool apart : {false, true}) {
    const DriverAnswer answer = apart ? ask_one([](GpuVendor, LineSink& sink) {
      leave_behind(sink, true);
      ::raise(SIGSEGV);
    })
                                      : ask_one([](GpuVendor, LineSink& sink) {
                                          leave_behind(sink, false);
                                          ::raise(SIGSEGV);
                                        });
    CHECK(answer.end == End::crashed);
    CHECK(answer.signal == SIGSEGV);
    // The child's end was seen, not the time limit's.
    if (apart) {
      const std::string left = field_of(answer, "left");
      CHECK(runs(left));
      if (!left.empty()) ::kill(std::stoi(left), SIGKILL);
    }
  }
}

TEST_CASE("a field with the word done is not the last line") {
  const DriverAnswer answer = ask_one(
      [](GpuVendor, LineSink& sink) {
        sink.say("name", {"done"});
        sleep_for_ever();
      },
      200ms);
  CHECK(answer == DriverAnswer{End::timed_out, 0, "name\tdone\n"});
}

TEST_CASE("a child leaves no core dump, not even into a program that collects them") {
  const DriverAnswer answer = ask_one([](GpuVendor, LineSink& sink) {
    rlimit limit{};
    ::getrlimit(RLIMIT_CORE, &limit);
    sink.say("core", static_cast<std::int64_t>(limit.rlim_cur));
    sink.say("core", static_cast<std::int64_t>(limit.rlim_max));
  });
  // A hard limit of zero stays; then nothing of the child may be dumped at all.
  rlimit ours{};
  REQUIRE(::getrlimit(RLIMIT_CORE, &ours) == 0);
  if (ours.rlim_max > 0) CHECK(answer.lines == "core\t1\ncore\t1\n");
}

TEST_CASE("where no limit on core dumps can be set, there is nothing to dump") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_CORE, &none) != 0) ::_exit(2);
    const DriverAnswer answer = ask_one([](GpuVendor, LineSink& sink) {
      sink.say("dumpable", static_cast<std::int64_t>(::prctl(PR_GET_DUMPABLE)));
    });
    // Root may raise a hard limit.
    const bool raised = ::geteuid() == 0 && answer.lines == "dumpable\t1\n";
    ::_exit(raised || answer.lines == "dumpable\t0\n" ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("an answer that came while the parent was stopped counts in full") {
  struct sigaction stop{};
  stop.sa_handler = [](int) {
    const timespec pause{1, 500'000'000};
    ::nanosleep(&pause, nullptr);
  };
  struct sigaction before{};
  REQUIRE(::sigaction(SIGALRM, &stop, &before) == 0);
  ::ualarm(20'000, 0);
  const DriverAnswer answer = ask_one(
      [](GpuVendor, LineSink& sink) {
        const timespec pause{0, 100'000'000};
        ::nanosleep(&pause, nullptr);
        for (int i = 0; i < 300; ++i)
          sink.say("line", {"of sixty-four bytes, more or less, as names of GPUs are"});
      },
      std::chrono::milliseconds(500));
  REQUIRE(::sigaction(SIGALRM, &before, nullptr) == 0);
  CHECK(answer.end == End::finished);
  CHECK(std::ranges::count(answer.lines, '\n') == 300);
}

TEST_CASE("death by a signal, an exit and an exception are crashes") {
  CHECK(ask_one([](GpuVendor, LineSink& sink) {
          sink.say("first");
          ::raise(SIGSEGV);
        }) == DriverAnswer{End::crashed, SIGSEGV, "first\n"});
  CHECK(ask_one([](GpuVendor, LineSink&) { std::abort(); }).signal == SIGABRT);
  CHECK(ask_one([](GpuVendor, LineSink&) { ::_exit(0); }) == DriverAnswer{End::crashed, 0, ""});
  CHECK(ask_one([](GpuVendor, LineSink&) { throw std::runtime_error("x"); }).end == End::crashed);
}

TEST_CASE("a child with endless output is stopped") {
  const DriverAnswer answer = ask_one([](GpuVendor, LineSink& sink) {
    while (true) sink.say("blah", {"blah blah blah blah blah blah blah blah"});
  });
  CHECK(answer.end == End::crashed);
  CHECK(answer.signal == SIGKILL);
  CHECK(answer.lines.size() < 1024 * 1024);
  CHECK_FALSE(has_children());
}

TEST_CASE("a child that closes its pipe and stays is killed at the limit") {
  const DriverAnswer answer = ask_one(
      [](GpuVendor, LineSink&) {
        for (int descriptor = 3; descriptor < 1024; ++descriptor) ::close(descriptor);
        sleep_for_ever();
      },
      200ms);
  CHECK(answer.end == End::timed_out);
  CHECK_FALSE(has_children());
}

TEST_CASE("the child owns neither our streams nor our files") {
  const int secret = ::open("/proc/self/status", O_RDONLY);  // deliberately inheritable
  REQUIRE(secret >= 0);
  const DriverAnswer answer = ask_one([](GpuVendor, LineSink& sink) {
    std::int64_t open = 0;
    for (int descriptor = 3; descriptor < 1024; ++descriptor) {
      if (::fcntl(descriptor, F_GETFD) != -1) ++open;
    }
    sink.say("open", open);
    std::array<char, 64> target{};
    const ssize_t length = ::readlink("/proc/self/fd/1", target.data(), target.size());
    sink.say("stdout", {std::string_view(target.data(), static_cast<std::size_t>(length))});
  });
  ::close(secret);
  CHECK(answer.lines == "open\t1\nstdout\t/dev/null\n");
}

TEST_CASE("threads may ask at the same time while others allocate") {
  std::atomic<bool> stop = false;
  std::thread noise([&] {
    while (!stop) std::vector<char>(1000).push_back('x');
  });
  std::vector<DriverAnswer> answers(16);
  std::vector<std::thread> askers;
  for (DriverAnswer& answer : answers) {
    askers.emplace_back(
        [&] { answer = ask_one([](GpuVendor, LineSink& sink) { sink.say("here", 42); }); });
  }
  for (std::thread& asker : askers) asker.join();
  stop = true;
  noise.join();
  for (const DriverAnswer& answer : answers) {
    CHECK(answer == DriverAnswer{End::finished, 0, "here\t42\n"});
  }
  CHECK_FALSE(has_children());
}

TEST_CASE("a program that ignores its children still gets their answers") {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const DriverAnswer answer = ask_one([](GpuVendor, LineSink& sink) { sink.say("here"); });
  ::signal(SIGCHLD, before);
  CHECK(answer == DriverAnswer{End::finished, 0, "here\n"});
}

TEST_CASE("a program's output is read, and a missing program has none") {
  CHECK(run_in_child("/bin/pwd", 20s).text == std::filesystem::current_path().string() + "\n");
  CHECK(run_in_child("/does/not/exist", 20s).text == "");
  // A child's last word is nothing to a program.
  const ProgramAnswer echo = run_in_child("/bin/echo done", 20s);
  CHECK(echo.text == "done\n");
  CHECK(echo.finished);
  CHECK_FALSE(run_in_child("/bin/sleep 60", 200ms).finished);
  CHECK_FALSE(has_children());
}

namespace {

/// close_range answers ENOSYS from here on, in this process: Linux before 5.9.
bool refuse_close_range() {
#ifdef SYS_close_range
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{program.size(), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
#else
  return true;
#endif
}

enum ChildExit : int { as_expected, no_filter, others_open };

}  // namespace

TEST_CASE("descriptors are closed where the kernel has no call for it") {
  const pid_t child = ::fork();  // a filter stays for good
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!refuse_close_range()) ::_exit(no_filter);
    for (int i = 0; i < 8; ++i) static_cast<void>(::open("/proc/self/status", O_RDONLY));
    const DriverAnswer answer = ask_one([](GpuVendor, LineSink& sink) {
      std::int64_t open = 0;
      for (int descriptor = 3; descriptor < 1024; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) != -1) ++open;
      }
      sink.say("open", open);
    });
    ::_exit(answer.lines == "open\t1\n" ? as_expected : others_open);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == no_filter) {
    MESSAGE("SKIPPED: this process may set no seccomp filter");
    return;
  }
  CHECK(WEXITSTATUS(status) == as_expected);
}
