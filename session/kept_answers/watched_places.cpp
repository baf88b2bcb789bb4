#include "session/kept_answers/watched_places.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "installer/environment/interpreter_cache.h"
#include "session/variables.h"

namespace axle::session {

namespace fs = std::filesystem;

std::set<std::string> environment_places(const Session& session,
                                         const installer::Environment& environment) {
  if (!environment.virtual_env || session.arguments().has(Opt::system)) return {};
  if (session.arguments().has(Opt::python)) {
    std::string python = session.arguments().value(Opt::python);
    // Other names are looked for on PATH; a script starts whatever it likes.
    if (!python.contains('/') ||
        !(fs::is_directory(python) || installer::is_binary_program(python)))
      return {};
    return {std::move(python)};
  }
  if (std::string active = variable("VIRTUAL_ENV"); !active.empty()) return {std::move(active)};
  std::set<std::string> places;
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !error; folder = folder.parent_path()) {
    for (const char* name : {".venv", ".venv/pyvenv.cfg"}) places.insert((folder / name).string());
    if (folder == folder.parent_path()) break;
  }
  return places;
}

bool looks_at_more_than_files(const Workspace& workspace) {
  return workspace.attestations != nullptr || workspace.settings.compile_bytecode ||
         std::ranges::any_of(workspace.request_files, [](const std::string& file) {
           return file == "-" || file.contains("://");
         });
}

}  // namespace axle::session
