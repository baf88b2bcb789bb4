// init: a new project.
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/project_file_commands.h"
#include "foundation/text/quote.h"
#include "session/output_file.h"
#include "session/projects/class_machine.h"
#include "session/projects/new_project.h"
#include "session/projects/project.h"
#include "session/session.h"
#include "session/workspace.h"
#include "wheel/requirement.h"

namespace axle::cli {

namespace {

namespace fs = std::filesystem;
using session::Opt;

session::Outcome<fs::path> folder_of_project(const session::Arguments& arguments) {
  if (arguments.positionals.size() > 1)
    return session::misused("init makes one project", "name one folder");
  const std::string named = arguments.positionals.empty() ? "." : arguments.positionals.front();
  std::error_code error;
  fs::path folder = fs::absolute(named, error).lexically_normal();
  if (named.empty() || error) return session::misused("the folder of the project has no name");
  if (!folder.has_filename()) folder = folder.parent_path();
  if (fs::exists(folder / "pyproject.toml", error)) {
    return session::misused(fmt::format("{}/pyproject.toml is there already", folder.string()),
                            "`variant add` adds requirements to it; classes of machines are added "
                            "by hand, in [tool.axle.machines]");
  }
  return folder;
}

session::Outcome<std::string> name_of_project(const session::Arguments& arguments,
                                              const fs::path& folder) {
  const bool stated = arguments.has(Opt::project_name);
  std::string name = stated ? arguments.value(Opt::project_name)
                            : session::name_for_folder(folder.filename().string());
  if (wheel::is_valid_name(name)) return name;
  if (stated)
    return session::misused(fmt::format("--name: {} is not a valid name", text::quote(name)),
                            "a name consists of letters, digits, -, _ and ., and begins and ends "
                            "with a letter or a digit");
  return session::misused(
      fmt::format("the folder {} gives the project no name", folder.filename().string()),
      "name it: --name NAME");
}

session::Outcome<std::vector<session::MachineClass>> stated_classes(
    const session::Arguments& arguments) {
  std::vector<session::MachineClass> classes;
  for (const std::string& text : arguments.values(Opt::project_machine)) {
    auto made = session::parse_machine_class(text);
    if (!made)
      return session::misused(fmt::format("--machine {}: {}", text, made.error().message),
                              made.error().hint);
    made->origin = "--machine " + text;
    classes.push_back(*std::move(made));
  }
  return classes;
}

/// The text, which is a project: the classes have different names and machines that are known.
session::Outcome<std::string> checked_project(session::Session& session,
                                              const session::NewProject& made,
                                              const std::string& file) {
  std::string text = session::render_new_project(made);
  const auto project = session::parse_project(text, file);
  if (!project) return session::misused(project.error().message, project.error().hint);
  for (const session::MachineClass& one : made.classes) {
    if (session::is_this_machine(one.machine)) continue;
    if (const auto known = session::machine_of(one, *project, session); !known)
      return std::unexpected(known.error());
  }
  return text;
}

}  // namespace

int run_init(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const auto folder = folder_of_project(arguments);
  if (!folder) return output.failure(folder.error());
  const auto name = name_of_project(arguments, *folder);
  if (!name) return output.failure(name.error());
  auto classes = stated_classes(arguments);
  if (!classes) return output.failure(classes.error());
  const auto base = session::find_base_interpreter(session);
  if (!base) return output.failure(base.error());
  const std::string file = (*folder / "pyproject.toml").string();
  const std::string requires_python =
      fmt::format(">={}.{}", base->python_version.release[0],
                  base->python_version.release.size() > 1 ? base->python_version.release[1] : 0);
  const auto text = checked_project(session, {*name, requires_python, *std::move(classes)}, file);
  if (!text) return output.failure(text.error());
  std::error_code error;
  fs::create_directories(*folder, error);
  if (error) {
    return output.failure(
        session::failed({ErrorKind::io,
                         fmt::format("{}: cannot be made: {}", folder->string(), error.message())})
            .error());
  }
  if (auto written = session::write_output(file, *text, "project"); !written)
    return output.failure(written.error());
  output.change_was_made();
  return output.answer(
      {.text = [&] { return output.options().quiet ? std::string() : file + "\n"; },
       .json = [&]() -> nlohmann::ordered_json {
         return {{"project", file}, {"name", *name}, {"requires_python", requires_python}};
       }});
}

}  // namespace axle::cli
