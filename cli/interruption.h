#pragma once
// SIGINT, SIGTERM and SIGHUP: the process ends as usual, after a message about what was done, and
// never during a change of an environment (installer/transaction/unbroken.h).

namespace axle::cli {

/// From here on. Signals that the caller ignores remain ignored.
void say_when_interrupted();

/// The command changes an environment: the message says whether it was changed.
void expect_change();
/// From here on it may be changed; earlier changes were to other environments, of plugins.
void begin_change();

/// A signal is the command's usual end from here on: exit code 0, without a message.
void end_by_signal_is_success();

/// Whether a progress line is on the terminal.
void note_progress(bool shown);

/// Whether what is said then is an event (docs/progress.md).
void say_interruption_as_event(bool as_event);
/// The message has been or is being written: another thread may go on for a moment.
[[nodiscard]] bool is_ending();

}  // namespace axle::cli
