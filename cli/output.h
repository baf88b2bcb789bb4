#pragma once
// The output of a command: the answer on stdout, as text or as one JSON object; everything else on
// stderr.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/repeated_options.h"
#include "cli/views/downloads.h"
#include "cli/views/pace.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "session/command_failure.h"

namespace axle::cli {

/// stdout is a closed pipe: the program ends with SIGPIPE, as git does, which is 128 and its number
/// in a shell. Nothing is printed.
inline constexpr int exit_closed_pipe = 141;

enum class Progress : std::uint8_t {
  none,
  line,   ///< one on the terminal, which the next one replaces
  events  ///< all that stderr gets is JSON, an object a line (docs/progress.md)
};

/// What --progress `which` asks for; lines are for terminals only.
[[nodiscard]] Progress choose_progress(std::string_view which, bool quiet);

struct OutputOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool color = false;  ///< of stdout
  Progress progress = Progress::none;
};

enum class Style : std::uint8_t { good, bad, faint, strong };

/// The answer of a command, in both forms. Only the requested form is made.
struct Answer {
  std::function<std::string()> text;
  std::function<nlohmann::ordered_json()> json;  ///< an object
};

class Output final : public Report {
 public:
  explicit Output(OutputOptions options) : options_(options) {}
  ~Output() override;

  void add(Remark remark) override;
  void progress(const Work& work) override;
  void download(const Download& download) override;
  /// The downloads that are to come; `bytes` 0: not known.
  void expect_downloads(std::size_t files, std::uint64_t bytes) { downloads_.expect(files, bytes); }
  [[nodiscard]] const Downloads& downloads() const { return downloads_; }
  /// Only with Progress::events: `fields` are added to the name.
  void event(std::string_view name, const nlohmann::ordered_json& fields);
  void set_progress(Progress progress);
  /// All but the progress: the user's file may say more than the command line.
  void set_options(OutputOptions options);

  /// The answer of a command that succeeded; in JSON `schema_version` is added first. Returns
  /// `exit_code`, 1 if stdout could not be written, or exit_closed_pipe.
  int answer(const Answer& answer, int exit_code = 0);
  /// A part of an answer in text that comes little by little; `answer` gives the rest. False if
  /// stdout is closed or cannot be written.
  [[nodiscard]] bool answer_part(std::string_view text);
  /// A text that is not a command's answer, in any output format: help, the version.
  int answer_text(std::string_view text);
  /// Whether there was a note or a warning, shown or not.
  [[nodiscard]] bool has_remarked() const { return remarked_; }
  /// Something was changed: if the answer cannot be written, that is reported on stderr.
  void change_was_made() { changed_ = true; }
  /// A failure: message and hint on stderr, or JSON with `schema_version` and `error`. Returns its
  /// exit code. `known` is the data that is known despite the failure: its text is printed to
  /// stdout, its JSON keys are added next to `error`, and its own `error` to `error`. Either
  /// function may be null.
  int failure(const session::CommandFailure& failure, const Answer& known = {});
  /// {kind, message, hint}: the value of `error`.
  [[nodiscard]] nlohmann::ordered_json error_json(const session::CommandFailure& failure) const;
  /// An error on stderr, in addition to an answer. `lines` come between its message and its hint.
  void remark_error(const Error& error, const std::vector<std::string>& lines = {});

  /// The options that commands in hints repeat.
  void set_run(session::RunOptions run) { run_ = std::move(run); }
  void set_machine(std::string name) { run_.machine = std::move(name); }
  [[nodiscard]] const session::RunOptions& run() const { return run_; }
  [[nodiscard]] session::RunOptions& run() { return run_; }

  [[nodiscard]] std::string paint(Style style, std::string_view text) const;
  [[nodiscard]] const OutputOptions& options() const { return options_; }

 private:
  void clear_progress();
  void show_line(const Work& work);
  /// Whether it is time to show more: few lines a second can be read.
  [[nodiscard]] bool is_due(std::uint64_t now, std::uint64_t& last) const;
  /// A message that is neither the answer nor a remark, in the form that stderr has.
  void say_error(const session::CommandFailure& failure);
  int write_answer(std::string_view whole, int exit_code);
  /// Colours are kept; terminal control characters from elsewhere are made visible.
  [[nodiscard]] std::string for_terminal(std::string_view text) const;

  OutputOptions options_;
  session::RunOptions run_;
  std::set<std::string, std::less<>> said_hints_;
  bool remarked_ = false;
  bool changed_ = false;
  bool progress_shown_ = false;
  std::uint64_t progress_tick_ = 0;
  Pace pace_;
  Downloads downloads_;
  std::map<std::string, std::uint64_t, std::less<>> event_ticks_;  ///< by file
};

/// JSON text with the project's settings: two spaces, invalid UTF-8 replaced.
[[nodiscard]] std::string render_json(const nlohmann::ordered_json& body);

}  // namespace axle::cli
