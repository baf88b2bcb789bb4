#include "cli/project_file_commands.h"

#include <utility>
#include <vector>

namespace axle::cli {

namespace {

using session::Opt;

/// `own` of a command that locks what it has written: what `variant lock` takes but what is about
/// its file alone.
std::vector<Opt> editing(std::vector<Opt> own, const std::vector<Opt>& locking) {
  own.push_back(Opt::edit_alone);
  for (const Opt id : locking)
    if (id != Opt::ci_check && id != Opt::coverage && id != Opt::dry_run) own.push_back(id);
  return own;
}

/// The same, and how the environment follows.
std::vector<Opt> editing_and_syncing(std::vector<Opt> own, const std::vector<Opt>& locking) {
  for (const Opt id : {Opt::no_sync, Opt::machine_class, Opt::no_install_project, Opt::no_editable,
                       Opt::link_mode, Opt::compile_bytecode, Opt::no_compile, Opt::overwrite})
    own.push_back(id);
  return editing(std::move(own), locking);
}

}  // namespace

Command init_row() {
  return {"init",
          "Make a project: a pyproject.toml in the folder",
          "DIR",
          Arity::any,
          {Opt::project_name, Opt::project_machine, Opt::python, Opt::no_cache, Opt::cache_dir},
          "variant init demo\n"
          "variant init demo --machine laptop=none --machine train=h100",
          run_init,
          machine_classes};
}

Command add_row(const std::vector<Opt>& locking) {
  return {"add",
          "Add requirements to the project's pyproject.toml, its lock and its environment",
          "REQ",
          Arity::any,
          editing_and_syncing({Opt::project_extra, Opt::project_group, Opt::dev, Opt::requirement},
                              locking),
          "variant add torch                 as torch>=VERSION, of the lowest that a class gets\n"
          "variant add --dev pytest ruff     to the dependency group dev\n"
          "variant add --extra plots 'matplotlib>=3.9; python_version < \"3.13\"'\n"
          "variant add -r requirements.txt\n"
          "variant add --no-sync torch       locked, but not installed",
          run_add,
          machine_classes};
}

Command remove_row(const std::vector<Opt>& locking) {
  return {"remove",
          "Remove requirements from the project's pyproject.toml, its lock and its environment",
          "PKG",
          Arity::any,
          editing_and_syncing({Opt::project_extra, Opt::project_group, Opt::dev}, locking),
          "variant remove torch\nvariant remove --dev pytest",
          run_remove,
          machine_classes};
}

Command import_row(const std::vector<Opt>& locking) {
  return {
      "import",
      "Make a project out of another tool's files, or add what they require to this one",
      "FILE",
      Arity::one,
      editing({Opt::project_name}, locking),
      "variant import requirements.txt\n"
      "variant import uv.lock            also poetry.lock, pylock.toml, poetry's pyproject.toml",
      run_import,
      machine_classes};
}

}  // namespace axle::cli
