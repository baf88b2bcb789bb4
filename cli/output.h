#pragma once
// What a command says: the answer on stdout, as text or as one JSON object; the rest on stderr.

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cli/repeated_options.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "session/failure.h"

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

class Output final : public Report {
 public:
  explicit Output(OutputOptions options) : options_(options) {}
  ~Output() override;

  void add(Remark remark) override;
  void progress(std::string_view what, std::uint64_t done, std::uint64_t total) override;

  /// The answer of a command that succeeded: `text`, or `body` with `schema_version` put first.
  /// Returns `exit_code`, 1 where stdout could not be written, or exit_closed_pipe.
  int answer(std::string_view text, const nlohmann::ordered_json& body, int exit_code = 0);
  /// Something was changed for good: an answer that cannot be written says so on stderr.
  void change_was_made() { changed_ = true; }
  /// A failure: message and hint on stderr, or `body` with `schema_version` and `error`, to which
  /// an `error` of `body` adds. Returns its exit code.
  int failure(const session::Failure& failure, const nlohmann::ordered_json& body);
  int failure(const session::Failure& failure);
  /// {kind, message, hint}: the value of `error`.
  [[nodiscard]] nlohmann::ordered_json error_json(const session::Failure& failure) const;
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

  OutputOptions options_;
  session::RunOptions run_;
  bool changed_ = false;
  bool progress_shown_ = false;
  std::uint64_t progress_tick_ = 0;
};

/// JSON text with the project's settings: two spaces, invalid UTF-8 replaced.
[[nodiscard]] std::string render_json(const nlohmann::ordered_json& body);

}  // namespace axle::cli
