#include "cli/project_commands.h"

namespace axle::cli {

using session::Opt;

Command export_row() {
  return {"export",
          "Write a class of axle.lock in a form that other tools read",
          "",
          Arity::none,
          {Opt::export_format, Opt::machine_class, Opt::extra, Opt::all_extras, Opt::group,
           Opt::out, Opt::output_file},
          "variant export --format requirements --class train\n"
          "variant export --format pylock --out .            pylock.CLASS.toml for every class\n"
          "variant export --format node-affinity --class train -o affinity.yaml",
          run_export};
}

Command tree_row() {
  return {"tree",
          "Show what axle.lock has for each class of machines, and who requires whom",
          "",
          Arity::none,
          {Opt::machine_class, Opt::invert, Opt::depth},
          "variant tree --class train\n"
          "variant tree --invert numpy    why it is there",
          run_tree};
}

}  // namespace axle::cli
