// The program `variant`; called as `variant-install` it is `variant install`.
#include <clocale>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <malloc.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "providers/plugins/shared_object.h"
#include "session/session.h"
#include "session/settings/configure.h"
#include "session/settings/progress.h"
#include "session/settings/project_variables.h"
#include "session/variables.h"
#include "session/version.h"
#include "wheel/libraries/opened_libraries.h"

namespace {

using namespace axle::cli;  // NOLINT(google-build-using-namespace): the program is this room
namespace session = axle::session;

bool asks_for_json(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--json") return true;
    if (word == "--") return false;
  }
  return false;
}

OutputOptions output_options(const session::Arguments& arguments) {
  OutputOptions options;
  options.json = arguments.has(session::Opt::json);
  options.quiet = arguments.has(session::Opt::quiet);
  options.verbose = arguments.has(session::Opt::verbose);
  const bool plain = arguments.has(session::Opt::no_color) ||
                     !session::variable("NO_COLOR").empty() || session::variable("TERM") == "dumb";
  options.color = !plain && isatty(STDOUT_FILENO) == 1;
  return options;
}

int run(std::vector<std::string> words) {
  const bool json = asks_for_json(words);
  Parsed parsed = parse_command_line(std::move(words));
  if (parsed.command == nullptr) {
    Output output({.json = json});
    output.set_run({.command_line = parsed.arguments, .files = session::Arguments()});
    if (parsed.usage_error)
      return output.failure(session::misused(parsed.text, parsed.hint).error());
    return output.answer_text(parsed.text);
  }
  Output output(output_options(parsed.arguments));
  const auto is_quiet = [&] { return parsed.arguments.has(session::Opt::quiet); };
  output.set_progress(choose_progress(session::progress_of(parsed.arguments), is_quiet()));
  output.set_run({.command_line = parsed.arguments});
  const auto progress =
      session::configure(parsed.command->name, parsed.command->options, parsed.arguments);
  if (!progress) return output.failure(progress.error());
  if (const auto taken = session::take_project_variables(
          parsed.command->name, parsed.command->options, parsed.arguments, output);
      !taken)
    return output.failure(taken.error());
  output.set_options(output_options(parsed.arguments));
  output.set_progress(choose_progress(*progress, is_quiet()));
  output.event(
      "begin",
      {{"schema_version", 1}, {"command", parsed.command->name}, {"version", session::version}});
  session::Session session(parsed.arguments, output.run(), output,
                           session::settings_section(parsed.command->name));
  if (const auto selected = session.select_elsewhere(parsed.command->machines.several); !selected)
    return output.failure(selected.error());
  return parsed.command->run(session, output);
}

/// Even if the caller ignores the signal, as in git.
[[noreturn]] void end_by_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  ::_exit(exit_closed_pipe);  // it is blocked
}

}  // namespace

int main(int argc, char** argv) {
  // In the sandbox, for the provider plugin of a shared object: nothing else is done then.
  if (const auto code = axle::plugins::answer_if_asked(argc, argv)) ::_exit(*code);
  // Memory that one thread has done with is used by the others: pages of 4 MB are read by several.
  // With one arena alone they wait for each other where they do nothing but parse.
  ::mallopt(M_ARENA_MAX, 2);
  // File names in archives are UTF-8, whatever the caller's locale.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  // A closed pipe is first handled as a write error: changes are reported, and the command ends
  // properly.
  // A handler, because ignored signals would remain ignored in child processes.
  std::signal(SIGPIPE, [](int) {});
  // What is too large for the limit of file sizes is a write error, too.
  std::signal(SIGXFSZ, [](int) {});
  // A caller may have left this ignored; then no child could be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  say_when_interrupted();
  std::vector<std::string> words(argv + 1, argv + argc);
  const std::string called = argc > 0 ? argv[0] : "";
  const bool version_asked = words.size() == 1 && words.front() == "--version";
  if (called.substr(called.rfind('/') + 1) == "variant-install" && !version_asked)
    words.insert(words.begin(), "install");
  const bool json = asks_for_json(words);
  try {
    const int code = run(std::move(words));
    if (code == exit_closed_pipe) end_by_closed_pipe();
    return code;
  } catch (const axle::wheel::LibraryUnavailable& missing) {
    Output output({.json = json});
    return output.failure(
        session::failed({axle::ErrorKind::io, missing.what(),
                         "install it with the system's packages (Debian: libisal2, libssl3)"})
            .error());
  } catch (const std::bad_alloc&) {
    Output output({.json = json});
    return output.failure(session::failed({axle::ErrorKind::io, "out of memory",
                                           "free some memory, or raise the limit of the process"})
                              .error());
  } catch (const std::exception& error) {
    Output output({.json = json});
    return output.failure(
        session::failed({axle::ErrorKind::io, std::string("a defect in Axle: ") + error.what(),
                         "please report it, with the command that you ran"})
            .error());
  }
}
