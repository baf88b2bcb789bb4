#pragma once
// What a command says: the answer on stdout, as text or as one JSON object; the rest on stderr.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cli/repeated_options.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "session/command_failure.h"

namespace axle::cli {

/// stdout is a pipe that nobody reads any more: the program ends by SIGPIPE, as git does, which is
/// 128 and its number in a shell. Nothing is said.
inline constexpr int exit_closed_pipe = 141;

struct OutputOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool color = false;     ///< of stdout
  bool progress = false;  ///< stderr is a terminal
};

enum class Style : std::uint8_t { good, bad, faint, strong };

/// What a command says, in both forms. Only the form that is asked for is made.
struct Answer {
  std::function<std::string()> text;
  std::function<nlohmann::ordered_json()> json;  ///< an object
};

class Output final : public Report {
 public:
  explicit Output(OutputOptions options) : options_(options) {}
  ~Output() override;

  void add(Remark remark) override;
  void progress(std::string_view what, std::uint64_t done, std::uint64_t total) override;

  /// The answer of a command that succeeded; in JSON `schema_version` is put first. Returns
  /// `exit_code`, 1 where stdout could not be written, or exit_closed_pipe.
  int answer(const Answer& answer, int exit_code = 0);
  /// A text that is no command's answer, whatever the options: help, the version.
  int answer_text(std::string_view text);
  /// Something was changed for good: an answer that cannot be written says so on stderr.
  void change_was_made() { changed_ = true; }
  /// A failure: message and hint on stderr, or JSON with `schema_version` and `error`. Returns its
  /// exit code. `known` is what there is to say all the same: its text goes to stdout, the keys of
  /// its JSON stand beside `error`, to which its own `error` adds. Either function may be null.
  int failure(const session::CommandFailure& failure, const Answer& known = {});
  /// {kind, message, hint}: the value of `error`.
  [[nodiscard]] nlohmann::ordered_json error_json(const session::CommandFailure& failure) const;
  /// An error on stderr, before or beside an answer.
  void remark_error(const Error& error);

  /// What the commands in hints repeat.
  void set_run(session::RunOptions run) { run_ = std::move(run); }
  void set_machine(std::string name) { run_.machine = std::move(name); }
  [[nodiscard]] const session::RunOptions& run() const { return run_; }
  [[nodiscard]] session::RunOptions& run() { return run_; }

  [[nodiscard]] std::string paint(Style style, std::string_view text) const;
  [[nodiscard]] const OutputOptions& options() const { return options_; }

 private:
  void clear_progress();
  int write_answer(std::string_view whole, int exit_code);
  /// Colours stay in it; what a stranger's text may do to a terminal does not.
  [[nodiscard]] std::string for_terminal(std::string_view text) const;

  OutputOptions options_;
  session::RunOptions run_;
  bool changed_ = false;
  bool progress_shown_ = false;
  std::uint64_t progress_tick_ = 0;
};

/// JSON text with the project's settings: two spaces, invalid UTF-8 replaced.
[[nodiscard]] std::string render_json(const nlohmann::ordered_json& body);

}  // namespace axle::cli
