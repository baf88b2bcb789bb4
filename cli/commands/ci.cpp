// ci github, ci gitlab, ci slurm, ci make: writes the file of a CI system, or compares it.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "builder/ci/ci_file.h"
#include "builder/ci/line_difference.h"
#include "cli/command.h"
#include "foundation/system/shell_command.h"
#include "session/output_file.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// Nothing if it cannot be read: then it is as good as missing.
std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// What writes it.
std::string command_of(const session::Arguments& arguments, std::string_view system) {
  std::vector<std::string> words = {"variant", "ci", std::string(system)};
  words.push_back(arguments.positionals.front());
  if (arguments.has(session::Opt::ci_file)) {
    words.emplace_back("--out");
    words.push_back(arguments.value(session::Opt::ci_file));
  }
  return shell_command(words);
}

int compare(const builder::CiFile& made, const std::string& command, Output& output) {
  const auto there = read_text(made.path);
  if (there && *there == made.text) {
    return output.answer(
        {.text = [&] { return made.path + ": up to date\n"; },
         .json = [&]() -> ordered_json { return {{"file", made.path}, {"up_to_date", true}}; }});
  }
  constexpr std::size_t shown = 40;
  const auto difference = builder::line_difference(there.value_or(""), made.text, shown);
  const std::string message = there ? fmt::format("{}:{}: is not what the project's table makes",
                                                  made.path, difference.line)
                                    : fmt::format("{}: there is no such file", made.path);
  const session::CommandFailure failure{
      {ErrorKind::mismatch, message, fmt::format("write it again: `{}`", command)},
      session::exit_stale};
  return output.failure(
      failure, {.text =
                    [&] {
                      std::string text;
                      if (!there) return text;
                      for (const std::string& line : difference.lines) text += line + "\n";
                      if (difference.left_out > 0)
                        text += fmt::format("... and {} more lines\n", difference.left_out);
                      return text;
                    },
                .json = [&]() -> ordered_json {
                  return {{"file", made.path},
                          {"up_to_date", false},
                          {"difference", there ? difference.lines : std::vector<std::string>()}};
                }});
}

int write(const builder::CiFile& made, Output& output) {
  std::error_code error;
  const auto folder = std::filesystem::path(made.path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) {
    return output.failure(
        session::failed({ErrorKind::io,
                         fmt::format("{}: cannot be made: {}", folder.string(), error.message())})
            .error());
  }
  if (read_text(made.path) != made.text) {
    if (auto written = session::write_output(made.path, made.text, "CI file"); !written)
      return output.failure(written.error());
    output.change_was_made();
  }
  return output.answer({.text = [&] { return made.path + "\n"; },
                        .json = [&]() -> ordered_json { return {{"file", made.path}}; }});
}

int run_ci(builder::CiSystem system, std::string_view name, session::Session& session,
           Output& output) {
  const session::Arguments& arguments = session.arguments();
  const bool check = arguments.has(session::Opt::ci_check);
  std::string out = arguments.value(session::Opt::ci_file);
  const bool to_stdout = out == "-";
  if (to_stdout && check) {
    return output.failure(
        session::misused("--check compares with a file, and --out - is none").error());
  }
  if (arguments.has(session::Opt::ci_file) && out.empty())
    return output.failure(session::misused("--out: the file is missing").error());
  if (to_stdout) out.clear();
  const auto made =
      builder::make_ci_file({system, arguments.positionals.front(), std::move(out)}, output);
  if (!made) return output.failure(session::failed(made.error()).error());
  if (to_stdout) {
    return output.answer({.text = [&] { return made->text; },
                          .json = [&]() -> ordered_json { return {{"text", made->text}}; }});
  }
  return check ? compare(*made, command_of(arguments, name), output) : write(*made, output);
}

}  // namespace

int run_ci_github(session::Session& session, Output& output) {
  return run_ci(builder::CiSystem::github, "github", session, output);
}

int run_ci_gitlab(session::Session& session, Output& output) {
  return run_ci(builder::CiSystem::gitlab, "gitlab", session, output);
}

int run_ci_make(session::Session& session, Output& output) {
  return run_ci(builder::CiSystem::make, "make", session, output);
}

int run_ci_slurm(session::Session& session, Output& output) {
  return run_ci(builder::CiSystem::slurm, "slurm", session, output);
}

}  // namespace axle::cli
