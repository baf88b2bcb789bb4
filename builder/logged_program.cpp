#include "builder/logged_program.h"

#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace axle::builder {

namespace {

/// Output on its way into a log, by lines.
class LinesOf {
 public:
  LinesOf(const std::string& log, const std::function<void(std::string_view)>& on_line)
      : file_(log, std::ios::binary | std::ios::app), on_line_(on_line) {}

  void take(std::string_view piece) {
    file_ << piece;
    file_.flush();
    for (const char c : piece) {
      if (c == '\n') {
        on_line_(line_);
        line_.clear();
      } else if (line_.size() < longest_line) {
        line_ += c;
      }
    }
  }

 private:
  static constexpr std::size_t longest_line = 4096;
  std::ofstream file_;
  const std::function<void(std::string_view)>& on_line_;
  std::string line_;
};

}  // namespace

Result<int> run_logged(const system::Program& program, const std::string& log,
                       const std::function<void(std::string_view)>& on_line) {
  system::ProgramSettings settings;
  const std::string file = log.empty() ? "/dev/null" : log;
  LinesOf lines(on_line ? file : "/dev/null", on_line);
  if (on_line) {
    settings.take_output = [&](std::string_view piece) { lines.take(piece); };
  } else {
    settings.log = file;
  }
  settings.errors = system::ErrorStream::with_output;
  settings.ends_its_own = true;
  settings.child.inherits_descriptors = true;
  const auto run = system::run_program(program, settings);
  const std::string& name = program.arguments.front();
  if (!run && run.error() == std::errc::no_such_file_or_directory)
    return fail(ErrorKind::not_found, fmt::format("{}: no such program", name));
  if (!run)
    return fail(ErrorKind::io,
                fmt::format("{}: cannot be started: {}", name, run.error().message()));
  return run->exit_code;
}

std::string last_lines(const std::string& path, std::size_t count) {
  constexpr std::streamoff enough = 64 * 1024;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0) return {};
  file.seekg(size > enough ? size - enough : 0);
  std::string text(static_cast<std::size_t>(size > enough ? enough : size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  while (text.ends_with('\n')) text.pop_back();
  std::size_t begin = text.size();
  for (std::size_t line = 0; line < count && begin != std::string::npos && begin > 0; ++line) {
    begin = text.rfind('\n', begin - 1);
  }
  return begin == std::string::npos || begin == 0 ? text : text.substr(begin + 1);
}

}  // namespace axle::builder
