#include "cli/project_commands.h"

#include <algorithm>
#include <vector>

namespace axle::cli {

namespace {

using session::Opt;

/// What pyproject.toml says instead, or what its lock has settled.
constexpr Opt settled[] = {Opt::requirement,
                           Opt::editable,
                           Opt::no_editable_package,
                           Opt::constraint,
                           Opt::overrides,
                           Opt::python_version,
                           Opt::abi,
                           Opt::implementation,
                           Opt::platform,
                           Opt::python_platform,
                           Opt::system,
                           Opt::no_deps,
                           Opt::reinstall,
                           Opt::reinstall_package,
                           Opt::alternatives,
                           Opt::group,
                           Opt::extra,
                           Opt::all_extras,
                           Opt::no_editable};

/// How packages are found and chosen, of `resolving` all that is not settled; and `more`.
std::vector<Opt> locking(std::vector<Opt> resolving, const std::vector<Opt>& more) {
  std::erase_if(resolving,
                [](Opt id) { return std::ranges::find(settled, id) != std::end(settled); });
  resolving.insert(resolving.end(), more.begin(), more.end());
  return resolving;
}

/// Which of what the project asks for is wanted, and how the lock is taken.
const std::vector<Opt> selected = {
    Opt::machine_class, Opt::extra,      Opt::all_extras,        Opt::group,
    Opt::all_groups,    Opt::only_group, Opt::no_default_groups, Opt::no_group,
    Opt::dev,           Opt::no_dev,     Opt::only_dev,          Opt::no_extra,
    Opt::frozen,        Opt::locked};

/// `own`, of a command that shows what the lock has.
std::vector<Opt> selecting(std::vector<Opt> own) {
  own.insert(own.end(), selected.begin(), selected.end());
  return own;
}

std::vector<Opt> syncing(std::vector<Opt> resolving, const std::vector<Opt>& more) {
  std::vector<Opt> options = locking(std::move(resolving), selected);
  for (const Opt id :
       {Opt::inexact, Opt::no_install_project, Opt::no_editable, Opt::build_from_source,
        Opt::build_from_source_of, Opt::attestations, Opt::trusted_root, Opt::link_mode,
        Opt::compile_bytecode, Opt::no_compile, Opt::overwrite})
    options.push_back(id);
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

}  // namespace

Command lock_row(std::vector<Opt> resolving) {
  return {
      "lock",
      "Solve the project for every class of machines that it names, into axle.lock",
      "",
      Arity::none,
      locking(std::move(resolving), {Opt::attestations, Opt::trusted_root, Opt::build_from_source,
                                     Opt::build_from_source_of, Opt::ci_check, Opt::dry_run,
                                     Opt::coverage, Opt::minimize, Opt::best, Opt::budget}),
      "variant lock                    versions that are locked stay where they can\n"
      "variant lock --upgrade          the newest of everything\n"
      "variant lock -P torch           the newest of torch, and what that needs\n"
      "variant lock --check            in CI: is axle.lock up to date?\n"
      "variant lock --coverage         which build each class of machines gets, and why\n"
      "variant lock --minimize builds --budget 3GB",
      run_lock,
      machine_classes};
}

Command outdated_row(std::vector<Opt> resolving) {
  return {"outdated",
          "List locked versions that are not the newest, and the newest that the project allows",
          "",
          Arity::none,
          locking(std::move(resolving), {Opt::frozen, Opt::locked}),
          "variant outdated             locked, allowed by the project's requirements, and latest\n"
          "variant outdated --json",
          run_outdated,
          machine_classes};
}

Command sync_row(std::vector<Opt> resolving) {
  return {"sync",
          "Make the project's environment equal to what axle.lock has for this machine",
          "",
          Arity::none,
          syncing(std::move(resolving), {Opt::dry_run}),
          "variant sync                    .venv, for the class that this machine belongs to\n"
          "variant sync --locked           in CI: fail if axle.lock is not up to date\n"
          "variant sync --frozen           take axle.lock as it is\n"
          "variant sync --group docs --inexact",
          run_sync,
          machine_classes};
}

Command run_row(std::vector<Opt> resolving) {
  return {"run",
          "Synchronise the project's environment, and run a command in it",
          "COMMAND",
          Arity::command,
          syncing(std::move(resolving), {Opt::no_sync}),
          "variant run python train.py --epochs 3\n"
          "variant run --no-sync pytest    in the environment as it is",
          run_run,
          machine_classes};
}

Command verify_row() {
  std::vector<Opt> options = selected;
  for (const Opt id : {Opt::inexact, Opt::no_install_project, Opt::no_editable, Opt::gpu_policy,
                       Opt::no_cache, Opt::cache_dir})
    options.push_back(id);
  return {"verify",
          "Check that the project's environment is what axle.lock has, and is for this machine",
          "",
          Arity::none,
          std::move(options),
          "variant verify                  exit code 4 if anything differs",
          run_verify,
          machine_classes};
}

Command export_row() {
  return {"export",
          "Write a class of axle.lock in a form that other tools read",
          "",
          Arity::none,
          selecting({Opt::export_format, Opt::out, Opt::output_file}),
          "variant export --format requirements --class train\n"
          "variant export --format pylock --out .            pylock.CLASS.toml for every class\n"
          "variant export --format requirements --class train --all-extras --no-dev\n"
          "variant export --format node-affinity --class train -o affinity.yaml",
          run_export,
          machine_classes};
}

Command tree_row() {
  return {"tree",
          "Show what axle.lock has for each class of machines, and who requires whom",
          "",
          Arity::none,
          selecting({Opt::invert, Opt::depth}),
          "variant tree --class train\n"
          "variant tree --no-dev\n"
          "variant tree --invert numpy    why it is there",
          run_tree,
          machine_classes};
}

}  // namespace axle::cli
