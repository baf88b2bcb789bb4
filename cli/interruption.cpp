#include "cli/interruption.h"

#include <atomic>
#include <cerrno>
#include <limits>
#include <string_view>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "foundation/system/program_run.h"
#include "installer/transaction/unbroken.h"

namespace axle::cli {
namespace {

std::atomic<pid_t> owner = 0;  ///< a forked child prints nothing
std::atomic<bool> progress_shown = false;
std::atomic<bool> ending = false;
std::atomic<bool> as_event_said = false;
std::atomic<bool> changes_expected = false;
std::atomic<bool> is_success = false;
std::atomic<unsigned> changes_before = std::numeric_limits<unsigned>::max();

void say(std::string_view text) {
  // A reader that no longer reads stderr must not block the end of the process.
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&room, 1, 0) == 1) (void)!::write(STDERR_FILENO, text.data(), text.size());
}

void say_what_was_done() {
  if (progress_shown) say("\r\033[K");
  const bool made = installer::changes_made() > changes_before;
  if (as_event_said) {
    return say(!changes_expected ? R"({"event":"interrupted","changed":null})"
                                   "\n"
               : made            ? R"({"event":"interrupted","changed":true})"
                                   "\n"
                                 : R"({"event":"interrupted","changed":false})"
                                   "\n");
  }
  if (!changes_expected) return say("error: interrupted\n");
  say(made ? "error: interrupted, after the change was made\n"
           : "error: interrupted; nothing was changed in the environment\n");
}

void end_by(int signal) {
  const int number = errno;
  if (::getpid() == owner) {
    if (installer::must_wait(signal)) {
      errno = number;
      return;
    }
    ending = true;
    system::kill_running_programs();
    if (is_success) ::_exit(0);
    say_what_was_done();
  }
  ::signal(signal, SIG_DFL);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  ::raise(signal);
  ::_exit(128 + signal);  // the first process of a container is not ended by its own signals
}

}  // namespace

void say_when_interrupted() {
  owner = ::getpid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction former = {};
    if (::sigaction(signal, nullptr, &former) != 0 || former.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = end_by;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

void expect_change() { changes_expected = true; }

void begin_change() { changes_before = installer::changes_made(); }

void end_by_signal_is_success() { is_success = true; }

void note_progress(bool shown) { progress_shown = shown; }

void say_interruption_as_event(bool as_event) { as_event_said = as_event; }

bool is_ending() { return ending; }

}  // namespace axle::cli
