#pragma once
// The answer of a run that changed nothing is kept, in the cache, with all that it depended on. As
// long as none of that changes the next run has the same answer, and looks no further.
//
// It depends on: the options, all variables, the facts of the machine, this run of the kernel; and
// on the states of files (installer/path_states.h): of the configuration, of the environment
// (installed_paths), and of what the command adds.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "installer/environment/installed.h"
#include "machines/selection.h"
#include "session/command_failure.h"
#include "session/kept_answers/answer_record.h"
#include "session/options.h"
#include "session/session.h"

namespace axle::session {

/// Runs that know of each other's answers.
struct AnswerKind {
  std::string_view name;       ///< "install"
  std::span<const Opt> plain;  ///< with these options, and with no others, answers are kept
  bool on_machine;             ///< its facts count
};

class AnswerKeeper {
 public:
  /// Before anything is read. `words`: the arguments that count besides options. Nothing is found
  /// or kept without a cache.
  AnswerKeeper(Session& session, const AnswerKind& kind, const std::vector<std::string>& words);

  /// nullopt: none is kept, or something has changed since.
  [[nodiscard]] std::optional<KeptAnswer> find();

  /// The machine, which is probed once. Errors: as Session::machine.
  [[nodiscard]] const Outcome<machines::NamedMachine>& machine();

  /// Of a run that changed nothing, asked nobody, and had nothing to say but `answer`; `paths`: the
  /// files that it looked at besides those of looked_at() and of the environment; some may not be
  /// there. Not kept if any was changed shortly before the run. It is found once a second run has
  /// seen all of them in the same states when it began and when it ended, so that nothing can have
  /// changed while it was read. A cache that cannot be written has none.
  void keep(const KeptAnswer& answer, std::set<std::string> paths,
            const installer::Environment& environment,
            const std::vector<installer::InstalledDistribution>& installed);

 private:
  /// Empty where they do not count; nullopt: they are not known.
  [[nodiscard]] std::optional<std::string> facts();

  Session& session_;
  bool on_machine_;
  std::int64_t began_;
  std::string file_;  ///< empty: nothing is found or kept
  std::string key_;   ///< what is not on disk, but for the machine
  /// Of the run before with the same key: its paths, and their states when this run began.
  struct {
    std::string paths;
    std::string states;
  } before_;
  std::optional<Outcome<machines::NamedMachine>> machine_;
};

}  // namespace axle::session
