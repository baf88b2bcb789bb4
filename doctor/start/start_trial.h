#pragma once
// Starts an interpreter for the sake of the start alone: whether it gets as far as a program, what
// it prints on the way, and which of the files that `site` runs is to blame.

#include <cstdint>
#include <string>
#include <vector>

namespace axle::doctor {

struct StartConditions {
  bool user_site = true;
  /// Names of variables that it does not get.
  std::vector<std::string> withheld = {};
};

/// Where the started interpreter searches modules; empty: unknown.
struct StartedSearch {
  std::vector<std::string> path;   ///< sys.path as it is when a program begins
  std::vector<std::string> sites;  ///< what `site` itself counts as places for packages
};

/// What became of one start.
struct StartTrial {
  bool ends = false;       ///< before a program could run
  std::string printed;     ///< to its output
  std::string complaints;  ///< to stderr
  std::string why;         ///< `ends`: "it exited with status 1: …"
  StartedSearch search;

  [[nodiscard]] bool sound() const { return !ends && printed.empty() && complaints.empty(); }
};

/// In the current folder, with `site`, and with nothing imported from there.
[[nodiscard]] StartTrial try_start(const std::string& python, const StartConditions& conditions);

/// A line of a .pth file, or of a sitecustomize or usercustomize.
struct StartFault {
  enum class Kind : std::uint8_t {
    // From bad to worse.
    prints,
    fails,       ///< the start goes on without it
    ends,        ///< the start ends there
    unreadable,  ///< it ends because the file is not text
  };
  Kind kind = Kind::prints;
  std::string file;
  unsigned line = 0;  ///< 0: unknown
  std::string text;   ///< the exception, or what it printed
};

/// A line of one of these files put a folder on sys.path, or before what was before it.
struct PathChange {
  std::string file;
  unsigned line = 0;  ///< 0: unknown
  std::string folder;
  bool at_end = false;  ///< after all that was there
};

struct StartTrace {
  std::vector<StartFault> faults;
  std::vector<PathChange> path_changes;
};

/// Goes through what `site` does and notes who does what; what ends the start is passed over, so
/// that all of them are found. Empty: none of these files is to blame, or that cannot be seen.
[[nodiscard]] StartTrace trace_start(const std::string& python, const StartConditions& conditions);

/// The last line that is not empty, without its indentation, shortened.
[[nodiscard]] std::string last_line(const std::string& text);

}  // namespace axle::doctor
