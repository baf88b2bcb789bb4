#include "installer/environment/new_environment.h"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>

#include "foundation/system/newer_calls.h"
#include "foundation/system/program_run.h"
#include "installer/file_access.h"
#include "installer/lock.h"
#include "installer/work_folder.h"

namespace axle::installer {

namespace {

namespace fs = std::filesystem;

// Arguments: the folder that is made, the one that it becomes, the prompt or "", "1" for the
// system's packages. What venv writes of the environment's place is that of the second.
constexpr const char* builder = R"python(
import copy, os, sys
try:
    import venv
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)

made, becomes, prompt, system = sys.argv[1:]

class Builder(venv.EnvBuilder):
    def ensure_directories(self, env_dir):
        context = super().ensure_directories(env_dir)
        if self.prompt is None:
            context.prompt = context.prompt.replace(context.env_name, os.path.basename(becomes))
        context.env_name = os.path.basename(becomes)
        return context

    def create_configuration(self, context):
        super().create_configuration(context)
        place = os.path.join(context.env_dir, "pyvenv.cfg")
        with open(place, encoding="utf-8") as file:
            text = file.read()
        with open(place, "w", encoding="utf-8") as file:
            file.write(text.replace(context.env_dir, becomes))

    def replace_variables(self, text, context):
        context = copy.copy(context)
        context.env_exe = context.env_exe.replace(context.env_dir, becomes)
        context.env_dir = becomes
        return super().replace_variables(text, context)

Builder(symlinks=True, prompt=prompt or None, system_site_packages=system == "1").create(made)
with open(os.path.join(made, ".gitignore"), "w", encoding="utf-8") as file:
    file.write("*\n")
)python";

/// What is at the place of a new environment.
enum class There { nothing, empty, environment, other };

Result<There> look_at_place(const std::string& folder) {
  const auto status = look_at(folder);
  if (!status) return std::unexpected(status.error());
  if (!*status) return There::nothing;
  if (!S_ISDIR((*status)->st_mode)) return There::other;
  const auto marked = exists(folder + "/pyvenv.cfg");
  if (!marked) return std::unexpected(marked.error());
  if (*marked) return There::environment;
  std::error_code error;
  const bool empty = fs::is_empty(folder, error);
  if (error) return std::unexpected(system_error("read", folder, error.value()));
  return empty ? There::empty : There::other;
}

Result<void> check_place(const NewEnvironment& wanted) {
  const auto there = look_at_place(wanted.folder);
  if (!there) return std::unexpected(there.error());
  if (*there == There::other) {
    return fail(ErrorKind::conflict,
                fmt::format("{} is there and is not an environment", wanted.folder),
                "nothing in it is removed: choose another folder");
  }
  if (*there != There::environment || wanted.replaces) return {};
  return fail(ErrorKind::conflict, fmt::format("{} is an environment already", wanted.folder),
              "--clear replaces it, with all that is installed in it");
}

Result<void> run_builder(const NewEnvironment& wanted, const std::string& made) {
  constexpr std::chrono::seconds limit(60);
  constexpr int no_module = 3;
  const auto output =
      system::run_program({{wanted.python, "-I", "-c", builder, made, wanted.folder, wanted.prompt,
                            wanted.system_site_packages ? "1" : "0"}},
                          {.time_limit = limit, .kills_leftovers = true});
  if (!output) return std::unexpected(system_error("start", wanted.python, output.error().value()));
  if (output->exit_code == 0 && !output->timed_out && !output->too_long) return {};
  std::string_view last = output->err;
  while (last.ends_with('\n')) last.remove_suffix(1);
  last = last.substr(last.rfind('\n') + 1);
  if (output->exit_code == no_module) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} cannot make environments: {}", wanted.python, last),
                "install its venv module (in Debian: python3-venv), or choose another interpreter "
                "with --python");
  }
  const std::string why = output->timed_out ? "it did not end within 60 s"
                          : last.empty()
                              ? fmt::format("it ended with exit code {}", output->exit_code)
                              : std::string(last.substr(0, 300));
  return fail(
      ErrorKind::malformed,
      fmt::format("{} could not make the environment {}: {}", wanted.python, wanted.folder, why),
      "choose another interpreter with --python");
}

}  // namespace

Result<void> make_environment(const NewEnvironment& wanted, Report& report) {
  if (auto good = check_place(wanted); !good) return good;
  const fs::path parent = fs::path(wanted.folder).parent_path();
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return std::unexpected(system_error("create", parent.string(), error.value()));
  auto work = WorkFolder::create(parent.string(), ".axle-venv-");
  if (!work) return std::unexpected(work.error());
  const std::string made = work->path() + "/environment";
  if (auto built = run_builder(wanted, made); !built) return built;
  // Somebody may have come in between; an empty folder gives way.
  if (auto good = check_place(wanted); !good) return good;
  if (::rename(made.c_str(), wanted.folder.c_str()) == 0) return {};
  if (!wanted.replaces || (errno != ENOTEMPTY && errno != EEXIST))
    return std::unexpected(system_error("create", wanted.folder, errno));
  // A command that changes it is waited for.
  const auto lock = EnvironmentLock::for_reading(wanted.folder + "/.axle", report);
  if (!lock) return std::unexpected(lock.error());
  // The old one goes with the work folder.
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, wanted.folder.c_str(), RENAME_EXCHANGE) == 0)
    return {};
  return std::unexpected(system_error("replace", wanted.folder, errno));
}

}  // namespace axle::installer
