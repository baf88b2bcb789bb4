#include "doctor/start/start_trial.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string_view>

#include <fmt/core.h>

#include "foundation/system/program_run.h"
#include "installer/file_access.h"

namespace axle::doctor {

namespace {

constexpr std::chrono::seconds start_limit{10};
constexpr std::size_t most_printed = std::size_t{1} << 20;  // bytes
constexpr std::size_t longest_line = 300;

/// What a user asks the interpreter to print, or to wait for, at each start.
constexpr std::array no_faults = {
    "PYTHONVERBOSE",  "PYTHONDEBUG",       "PYTHONINSPECT", "PYTHONPROFILEIMPORTTIME",
    "PYTHONDUMPREFS", "PYTHONMALLOCSTATS", "LD_DEBUG",      "LD_SHOW_AUXV",
    "LD_VERBOSE"};

constexpr std::string_view started_mark =
    "\x1e"
    "axle: started\n";

constexpr std::string_view search_mark =
    "\x1e"
    "axle: search";

// Only with modules that are built in: others might be those of the current folder. The search path
// is "\x1eaxle: search N \0 FOLDER …\x1f": the first N are sys.path.
constexpr const char* start_program = R"python(
import posix, sys
posix.write(1, b"\x1eaxle: started\n")
site, path = sys.modules.get("site"), [one for one in sys.path if isinstance(one, str)]
try:
    sites = list(site.getsitepackages())
except Exception:
    sites = []
text = "\0".join(["\x1eaxle: search" + str(len(path))] + path + sites) + "\x1f"
posix.write(1, text.encode(sys.getfilesystemencoding(), "surrogateescape"))
)python";

// Records "\x1e KIND \0 FILE \0 LINE \0 TEXT \x1f" between what the files print: B begins with a
// file or a line of it, L comes to a line, P puts a folder on sys.path, A at its end, R raises, S
// ends the start, U cannot be read, E is done.
constexpr const char* trace_program = R"python(
import sys
if sys.path and sys.path[0] == "":
    del sys.path[0]
import os, site

write, leave_at_once, execute = os.write, os._exit, exec
most_lines = 2000

class Leaving(BaseException):
    pass

def leave(status=0):
    raise Leaving("os._exit(%s)" % status)

def note(kind, file="", line=0, text=""):
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    fields = "\0".join((kind, file, str(line), text))
    write(1, b"\x1e" + fields.encode("utf-8", "surrogateescape") + b"\x1f")

def render(error):
    if isinstance(error, Leaving):
        return str(error)
    text = str(error)
    return type(error).__name__ + (": " + text if text else "")

class Watched:
    def __init__(self, file, line=0):
        self.file, self.line, self.noted = file, line, 0
        self.at, self.path = line, list(sys.path)

    def look_at_path(self):
        """What is new on sys.path, or before what was before it, is the work of the last line."""
        before, now = self.path, [one for one in sys.path if isinstance(one, str)]
        self.path = now
        if now == before:
            return
        for i, one in enumerate(now):
            passed = before[:before.index(one)] if one in before else ()
            if now.count(one) > before.count(one) or any(other in now[i + 1:] and other not in now[:i] for other in passed):
                note("A" if now[:len(before)] == before else "P", self.file, self.at, one)

    def follow(self, frame, event, argument):
        if frame.f_code.co_filename != self.file:
            return None
        if event == "line":
            self.look_at_path()
            self.at = frame.f_lineno
            if self.noted < most_lines:
                self.noted += 1
                note("L", self.file, frame.f_lineno)
        return self.follow

    def __enter__(self):
        note("B", self.file, self.line)
        os._exit = leave
        if not self.line:
            sys.settrace(self.follow)

    def __exit__(self, kind, error, trace):
        sys.settrace(None)
        os._exit = leave_at_once
        self.look_at_path()
        ends = error is not None and not isinstance(error, Exception)
        line = self.line
        while error is not None and trace is not None and not self.line:
            if trace.tb_frame.f_code.co_filename == self.file:
                line = trace.tb_lineno
            trace = trace.tb_next
        if isinstance(error, SyntaxError) and not line and error.filename == self.file:
            line = error.lineno or 0
        if error is not None:
            note("S" if ends else "R", self.file, line, render(error))
        note("E")
        return ends

places = {}

def line_of(file, line):
    try:
        with open(file, "rb") as opened:
            lines = opened.read().decode("utf-8-sig", "surrogateescape").splitlines()
    except OSError:
        return 0
    for i in range(places.get(file, 0), len(lines)):
        if lines[i].strip() == line.strip():
            places[file] = i + 1
            return i + 1
    return 0

def run_line(line, *rest):
    # Such a line may look for `sitedir` one frame above its own, which is this one.
    above = sys._getframe(1)
    sitedir = above.f_locals.get("sitedir")
    fullname = above.f_locals.get("fullname", "")
    with Watched(fullname, line_of(fullname, line)):
        execute(line, above.f_globals, above.f_locals)

add_package = site.addpackage

def add_watched_package(sitedir, name, *rest):
    file = os.path.join(sitedir, name)
    places.pop(file, None)  # of a virtual environment each is read twice
    try:
        return add_package(sitedir, name, *rest)
    except UnicodeDecodeError as error:
        line = 0
        with open(file, "rb") as opened:
            for number, content in enumerate(opened.read().splitlines(), 1):
                try:
                    content.decode(error.encoding)
                except UnicodeDecodeError:
                    line = number
                    break
        note("B", file, line)
        note("U", file, line, render(error))
        note("E")
        return rest[0] if rest else None

def customize(name):
    import importlib.util
    try:
        found = importlib.util.find_spec(name)
    except Exception:
        found = None
    if found is None or not found.origin:
        return
    try:
        with Watched(found.origin):
            __import__(name)
    except Exception:
        pass

site.exec = run_line
site.addpackage = add_watched_package
site.execsitecustomize = lambda: customize("sitecustomize")
site.execusercustomize = lambda: customize("usercustomize")
site.main()
)python";

system::Program program_with(const std::string& python, const StartConditions& conditions,
                             const std::vector<std::string>& options) {
  system::Program program;
  program.arguments = {python};
  if (!conditions.user_site) program.arguments.emplace_back("-s");
  program.arguments.insert(program.arguments.end(), options.begin(), options.end());
  program.withheld = conditions.withheld;
  program.withheld.insert(program.withheld.end(), no_faults.begin(), no_faults.end());
  return program;
}

/// One record of the trace.
struct TraceRecord {
  char kind = 0;
  std::string file;
  unsigned line = 0;
  std::string text;
};

TraceRecord parse_trace_record(std::string_view text) {
  std::array<std::string, 4> fields;
  for (std::string& field : fields) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    field = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  TraceRecord record{fields[0].empty() ? '\0' : fields[0][0], fields[1], 0, fields[3]};
  std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), record.line);
  return record;
}

/// Goes through the records and what is printed between them.
class TraceReader {
 public:
  void take(const TraceRecord& record) {
    using Kind = StartFault::Kind;
    switch (record.kind) {
      case 'B':
        inside_ = true;
        at_ = record;
        break;
      case 'L':
        if (inside_) at_.line = record.line;
        break;
      case 'E':
        inside_ = false;
        break;
      case 'P':
      case 'A':
        trace_.path_changes.push_back(
            {record.file, record.line, record.text, /*at_end=*/record.kind == 'A'});
        break;
      case 'R':
        add(Kind::fails, record);
        break;
      case 'S':
        add(Kind::ends, record);
        break;
      case 'U':
        add(Kind::unreadable, record);
        break;
      default:
        break;
    }
  }

  void print(std::string_view text) {
    if (!inside_ || text.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
    at_.text = last_line(std::string(text));
    add(StartFault::Kind::prints, at_);
  }

  /// The interpreter is gone. `why`: if it did not end by itself.
  void end(const std::string& why) {
    if (!inside_) return;
    at_.text = why;
    add(StartFault::Kind::ends, at_);
  }

  [[nodiscard]] StartTrace trace() && { return std::move(trace_); }

 private:
  void add(StartFault::Kind kind, const TraceRecord& record) {
    if (record.file.empty()) return;
    const bool known = std::ranges::any_of(trace_.faults, [&](const StartFault& one) {
      return one.kind == kind && one.file == record.file && one.line == record.line;
    });
    if (!known) trace_.faults.push_back({kind, record.file, record.line, record.text});
  }

  bool inside_ = false;
  TraceRecord at_;  ///< where it is
  StartTrace trace_;
};

/// What start_program says of sys.path, taken out of `output`.
StartedSearch take_search(std::string& output) {
  StartedSearch search;
  const std::size_t begin = output.find(search_mark);
  const std::size_t end = output.find('\x1f', begin);
  if (begin == std::string::npos || end == std::string::npos) return search;
  std::vector<std::string> fields;
  std::string_view rest =
      std::string_view(output).substr(0, end).substr(begin + search_mark.size());
  for (std::size_t at = 0; at <= rest.size();) {
    const std::size_t stop = std::min(rest.find('\0', at), rest.size());
    fields.emplace_back(rest.substr(at, stop - at));
    at = stop + 1;
  }
  output.erase(begin, end + 1 - begin);
  std::size_t folders = 0;
  std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), folders);
  for (std::size_t i = 1; i < fields.size(); ++i)
    (i <= folders ? search.path : search.sites).push_back(std::move(fields[i]));
  return search;
}

std::string how_it_ended(const system::ProgramOutput& output) {
  if (output.timed_out)
    return fmt::format("it did not get further within {} s", start_limit.count());
  if (output.too_long) return "it prints without an end";
  const std::string last = last_line(output.err.empty() ? output.out : output.err);
  return fmt::format("it exited with status {}{}{}", output.exit_code, last.empty() ? "" : ": ",
                     last);
}

}  // namespace

std::string last_line(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t newline = rest.rfind('\n');
    std::string_view line = newline == std::string_view::npos ? rest : rest.substr(newline + 1);
    while (!line.empty() && std::string_view(" \t\r").contains(line.front())) line.remove_prefix(1);
    while (!line.empty() && std::string_view(" \t\r").contains(line.back())) line.remove_suffix(1);
    if (!line.empty()) return std::string(line.substr(0, longest_line));
    if (newline == std::string_view::npos) break;
    rest = rest.substr(0, newline);
  }
  return {};
}

StartTrial try_start(const std::string& python, const StartConditions& conditions) {
  StartTrial trial;
  auto output = system::run_program(program_with(python, conditions, {"-c", start_program}),
                                    {.time_limit = start_limit, .most_output = most_printed});
  if (!output) {
    trial.ends = true;
    trial.why = installer::system_error("start", python, output.error().value()).message;
    return trial;
  }
  const std::size_t mark = output->out.find(started_mark);
  if (mark != std::string::npos) output->out.erase(mark, started_mark.size());
  trial.ends = mark == std::string::npos;
  trial.search = take_search(output->out);
  trial.printed = std::move(output->out);
  trial.complaints = std::move(output->err);
  output->out = trial.printed;
  output->err = trial.complaints;
  if (trial.ends) trial.why = how_it_ended(*output);
  return trial;
}

StartTrace trace_start(const std::string& python, const StartConditions& conditions) {
  const auto output =
      system::run_program(program_with(python, conditions, {"-S", "-c", trace_program}),
                          {.time_limit = start_limit,
                           .most_output = most_printed,
                           .errors = system::ErrorStream::with_output});
  if (!output) return {};
  TraceReader reader;
  std::string_view rest = output->out;
  while (!rest.empty()) {
    const std::size_t begin = std::min(rest.find('\x1e'), rest.size());
    reader.print(rest.substr(0, begin));
    rest.remove_prefix(begin);
    const std::size_t end = rest.find('\x1f');
    if (end == std::string_view::npos) break;
    reader.take(parse_trace_record(rest.substr(1, end - 1)));
    rest.remove_prefix(end + 1);
  }
  system::ProgramOutput ending;
  ending.exit_code = output->exit_code;
  ending.timed_out = output->timed_out;
  ending.too_long = output->too_long;
  reader.end(how_it_ended(ending));
  return std::move(reader).trace();
}

}  // namespace axle::doctor
