#include "cli/project_file_commands.h"

#include <utility>

namespace axle::cli {

namespace {

using session::Opt;

/// Which list of requirements is meant.
const std::vector<Opt> lists = {Opt::project_extra, Opt::project_group, Opt::dev};

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

Command add_row(const std::vector<Opt>& sources, const std::vector<Opt>& choices) {
  std::vector<Opt> options = lists;
  options.insert(options.end(), {Opt::requirement, Opt::edit_alone});
  options.insert(options.end(), sources.begin(), sources.end());
  for (const Opt id : choices) {
    const bool of_installed = id == Opt::upgrade || id == Opt::upgrade_package ||
                              id == Opt::reinstall || id == Opt::reinstall_package ||
                              id == Opt::no_deps || id == Opt::alternatives;
    if (!of_installed) options.push_back(id);
  }
  options.insert(options.end(), {Opt::python, Opt::system});
  return {
      "add",
      "Add requirements to the project's pyproject.toml",
      "REQ",
      Arity::any,
      std::move(options),
      "variant add torch                 as torch>=VERSION, of the version that would be chosen\n"
      "variant add --dev pytest ruff     to the dependency group dev\n"
      "variant add --extra plots 'matplotlib>=3.9; python_version < \"3.13\"'\n"
      "variant add -r requirements.txt",
      run_add,
      machine_classes};
}

Command remove_row() {
  return {"remove",   "Remove requirements from the project's pyproject.toml",
          "PKG",      Arity::any,
          lists,      "variant remove torch\nvariant remove --dev pytest",
          run_remove, machine_classes};
}

Command import_row() {
  return {
      "import",
      "Make a project out of another tool's files, or add what they require to this one",
      "FILE",
      Arity::one,
      {Opt::project_name, Opt::python, Opt::no_cache, Opt::cache_dir},
      "variant import requirements.txt\n"
      "variant import uv.lock            also poetry.lock, pylock.toml, poetry's pyproject.toml",
      run_import,
      machine_classes};
}

}  // namespace axle::cli
