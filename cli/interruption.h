#pragma once
// SIGINT, SIGTERM and SIGHUP: the process ends by them as it would have, after a word of what it
// has done, and never amid a change of an environment (installer/transaction/unbroken.h).

namespace axle::cli {

/// From here on. Signals that the caller ignores stay ignored.
void say_when_interrupted();

/// The command is there to change an environment: what is said tells whether it was.
void expect_change();
/// From here on it may be; what was changed before were others, of plugins.
void begin_change();

/// Whether a line that shows progress stands on the terminal.
void note_progress(bool shown);

}  // namespace axle::cli
