#include "detect/children.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace axle::detect;
using namespace std::chrono_literals;
using End = DriverAnswer::End;

namespace {

DriverAnswer ask_one(AskVendor ask, std::chrono::milliseconds limit = 20s) {
  constexpr std::array vendors{GpuVendor::nvidia};
  return ask_in_children(vendors, ask, limit).front();
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

[[noreturn]] void sleep_for_ever() {
  while (true) ::pause();
}

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

TEST_CASE("death by a signal, an exit and an exception are crashes") {
  CHECK(ask_one([](GpuVendor, LineSink& sink) {
          sink.say("first");
          ::raise(SIGSEGV);
        }) == DriverAnswer{End::crashed, SIGSEGV, "first\n"});
  CHECK(ask_one([](GpuVendor, LineSink&) { std::abort(); }).signal == SIGABRT);
  CHECK(ask_one([](GpuVendor, LineSink&) { ::_exit(0); }) == DriverAnswer{End::crashed, 0, ""});
  CHECK(ask_one([](GpuVendor, LineSink&) { throw std::runtime_error("x"); }).end == End::crashed);
}

TEST_CASE("a child that talks without end is stopped") {
  const DriverAnswer answer = ask_one([](GpuVendor, LineSink& sink) {
    while (true) sink.say("blah", {"blah blah blah blah blah blah blah blah"});
  });
  CHECK(answer.end == End::crashed);
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

TEST_CASE("a program's output is read, and one that does not exist says nothing") {
  CHECK(run_program("/bin/pwd", 20s) == std::filesystem::current_path().string() + "\n");
  CHECK(run_program("/does/not/exist", 20s) == "");
  CHECK_FALSE(has_children());
}
