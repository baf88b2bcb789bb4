#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "foundation/system/shell_command.h"
#include "installer/environment/new_environment.h"
#include "session/session.h"
#include "session/workspace.h"
#include "wheel/version.h"

namespace axle::cli {

namespace {

namespace fs = std::filesystem;

/// Absolute; where a link to a folder stands, that folder.
session::Outcome<std::string> folder_of(const session::Arguments& arguments) {
  if (arguments.positionals.size() > 1)
    return session::misused("venv makes one environment", "name one folder");
  const std::string named = arguments.positionals.empty() ? ".venv" : arguments.positionals.front();
  std::error_code error;
  fs::path folder = fs::absolute(named, error).lexically_normal();
  if (named.empty() || error) return session::misused("the folder of the environment has no name");
  if (!folder.has_filename()) folder = folder.parent_path();
  if (fs::is_symlink(folder, error) && fs::is_directory(folder, error))
    folder = fs::canonical(folder, error);
  // Shells, and PATH, would take it for two.
  if (folder.string().contains(':'))
    return session::misused(folder.string() + ": the name of an environment cannot contain ':'");
  return folder.string();
}

}  // namespace

int run_venv(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const auto folder = folder_of(arguments);
  if (!folder) return output.failure(folder.error());
  const auto base = session::find_base_interpreter(session);
  if (!base) return output.failure(base.error());
  const auto made = installer::make_environment(
      {.python = base->python,
       .folder = *folder,
       .prompt = arguments.value(session::Opt::prompt),
       .system_site_packages = arguments.has(session::Opt::system_site_packages),
       .replaces = arguments.has(session::Opt::clear)},
      output);
  if (!made) return output.failure(session::failed(made.error()).error());
  const std::string version = wheel::render_version(base->python_version);
  return output.answer({.text =
                            [&] {
                              if (output.options().quiet) return std::string();
                              return fmt::format("{} (Python {})\nactivate it: . {}\n", *folder,
                                                 version, shell_word(*folder + "/bin/activate"));
                            },
                        .json = [&]() -> nlohmann::ordered_json {
                          return {{"environment", *folder},
                                  {"python", *folder + "/bin/python"},
                                  {"version", version}};
                        }});
}

}  // namespace axle::cli
