#include "session/builds/told_program.h"

#include <deque>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/text/printable.h"
#include "index/http/redaction.h"
#include "installer/file_access.h"

namespace axle::session {

namespace {

/// What it prints: each line is a detail, and an error shows the last ones.
class PrintedLines {
 public:
  PrintedLines(std::string program, Report& report)
      : program_(std::move(program)), report_(report) {}

  void take(std::string_view piece) {
    for (const char c : piece) {
      if (c == '\n' || c == '\r') {
        end_line();
      } else if (line_.size() < longest_line) {
        line_ += c;
      }
    }
  }

  /// "its output ends with …"; empty: it printed nothing.
  [[nodiscard]] std::string last_lines() {
    end_line();
    if (last_.empty()) return {};
    return fmt::format("its output ends with\n    {}", fmt::join(last_, "\n    "));
  }

 private:
  void end_line() {
    const std::size_t end = line_.find_last_not_of(" \t");
    if (end != std::string::npos) {
      line_.resize(end + 1);
      std::string shown = text::printable(index::redact_url(line_));
      report_.detail(fmt::format("{}: {}", program_, shown));
      last_.push_back(std::move(shown));
      if (last_.size() > most_lines) last_.pop_front();
    }
    line_.clear();
  }

  static constexpr std::size_t longest_line = 400;
  static constexpr std::size_t most_lines = 16;

  std::string program_;
  Report& report_;
  std::string line_;
  std::deque<std::string> last_;
};

}  // namespace

Result<void> run_told(const ToldProgram& told, std::string_view what, Report& report) {
  PrintedLines printed(told.name, report);
  std::ofstream log(told.log.empty() ? "/dev/null" : told.log, std::ios::binary | std::ios::app);
  const auto ended =
      system::run_program(told.program, {.time_limit = told.time_limit,
                                         .errors = system::ErrorStream::with_output,
                                         .take_output =
                                             [&](std::string_view piece) {
                                               printed.take(piece);
                                               log << piece << std::flush;
                                             },
                                         .kills_leftovers = true,
                                         .ends_its_own = true,
                                         .child = {.group = system::Group::session}});
  if (!ended && ended.error() == std::errc::no_such_file_or_directory) {
    return fail(ErrorKind::not_found, fmt::format("{}: {} is not there", what, told.name),
                fmt::format("install {}", told.name));
  }
  if (!ended) {
    return std::unexpected(
        installer::system_error("start", told.program.arguments.front(), ended.error().value()));
  }
  if (!ended->timed_out && ended->exit_code == 0) return {};
  const std::string why =
      ended->timed_out ? fmt::format("{} did not end within {} seconds", told.name,
                                     std::chrono::duration<double>(told.time_limit).count())
                       : fmt::format("{} ended with exit code {}", told.name, ended->exit_code);
  std::string hint = printed.last_lines();
  if (ended->timed_out)
    hint = "AXLE_BUILD_TIMEOUT sets another limit, in seconds" + (hint.empty() ? "" : "; " + hint);
  return fail(ErrorKind::unsupported, fmt::format("{}: {}", what, why), std::move(hint));
}

}  // namespace axle::session
