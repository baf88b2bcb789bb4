// A script that submits itself to Slurm: a job array for each group, and publishing after all.
#include <fmt/format.h>

#include "builder/ci/ci_file.h"
#include "builder/ci/ci_script.h"
#include "builder/ci/local_jobs.h"
#include "builder/ci/quoting.h"
#include "foundation/system/shell_command.h"

namespace axle::builder {

namespace {

// $1: the name, $2: what sbatch is told first; then its options. Options that are given later win,
// so that those of the command line come last. --parsable: "ID" or "ID;CLUSTER" (sbatch(1)).
constexpr std::string_view submitting = R"(submitted=
submit() {
  logs=$(printf '%s' "$OUT/logs" | sed 's/%/%%/g')
  if ! id=$(sbatch --parsable --requeue --open-mode=append --export=ALL --chdir="$PWD" --output="$logs/$log.log" "$@"); then
    [ -z "$submitted" ] || scancel $submitted
    exit 1
  fi
  id=${id%%;*}
  submitted="$submitted $id"
}
)";

std::string sbatch_options(const Definitions& settings) {
  std::string text;
  for (const auto& [name, value] : settings) {
    text += " " + shell_word(value.empty() ? "--" + name : fmt::format("--{}={}", name, value));
  }
  return text;
}

std::string submission(const CiPlan& plan, const Definitions& of_all) {
  std::string text =
      "if [ \"${1:-}\" != --job ]; then\n"
      "case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac\n"
      "mkdir -p \"$OUT/logs\"\n"
      "export VARIANT OUT\n";
  text += submitting;
  std::size_t number = 0;
  for (const CiGroup& group : plan.groups) {
    text += fmt::format(
        "log='%x-%A_%a'\n"
        "submit --job-name={0} --array=0-{1}{2} \"$@\" \"$self\" --job {3}\n"
        "echo \"{0}: job array $id, {4} tasks\"\nafter=\"{5}:$id\"\n",
        "variants-" + group.name, group.jobs.size() - 1, sbatch_options(group.settings().slurm),
        number, group.jobs.size(), number == 0 ? "afterok" : "$after");
    ++number;
  }
  text += fmt::format(
      "log='%x-%j'\n"
      "submit --job-name=variants-publish --dependency=\"$after\" --kill-on-invalid-dep=yes{} "
      "\"$@\" "
      "\"$self\" --job publish\n"
      "echo \"variants-publish: job $id, after all others have succeeded; logs are in $OUT/logs\"\n"
      "exit 0\nfi\n",
      sbatch_options(of_all));
  return text;
}

std::string slurm_tasks(const CiPlan& plan) {
  std::string text = "case $2:${SLURM_ARRAY_TASK_ID:-} in\npublish:*)\n";
  text += local_publish_script(plan);
  text += "exit 0\n;;\n";
  std::size_t number = 0;
  for (const CiGroup& group : plan.groups) {
    std::size_t task = 0;
    for (const CiJob& job : group.jobs)
      text += fmt::format("{}:{})\n{};;\n", number, task++, local_variables(job));
    ++number;
  }
  return text +
         "*)\necho \"there is no task $2:${SLURM_ARRAY_TASK_ID:-}\" >&2\nexit 2\n;;\nesac\n" +
         "echo \"$VARIANT_JOB: task ${SLURM_ARRAY_TASK_ID} of job ${SLURM_ARRAY_JOB_ID:-} on "
         "$(uname -n), start ${SLURM_RESTART_COUNT:-0}\"\n" +
         local_job_script(plan);
}

}  // namespace

std::string render_slurm(const CiPlan& plan) {
  return fmt::format(
             "#!/bin/sh\n"
             "# Written by `variant ci slurm` from [variant] and [tool.axle] of\n"
             "# {}/pyproject.toml: change them and write it again.\n"
             "# sh FILE [OPTION OF sbatch...], where that path begins, on storage that all nodes "
             "share, submits all.\n"
             "# VARIANT is the program, OUT the folder for all that is made.\n"
             "set -eu\n"
             ": \"${{VARIANT:=variant}}\"\n",
             comment_text(plan.project)) +
         local_variables(plan) +
         "if [ ! -e \"$VARIANT_PROJECT/pyproject.toml\" ]; then\n"
         "  echo \"there is no $VARIANT_PROJECT/pyproject.toml in $PWD\" >&2\n"
         "  exit 2\nfi\n" +
         std::string(local_folders()) + submission(plan, plan.slurm) + slurm_tasks(plan);
}

}  // namespace axle::builder
