#include "builder/logged_program.h"

#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace axle::builder {

Result<int> run_logged(const system::Program& program, const std::string& log) {
  system::ProgramSettings settings;
  settings.log = log.empty() ? "/dev/null" : log;
  settings.errors = system::ErrorStream::with_output;
  settings.child.group = system::Group::shared;
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
