#include "cli/ci_commands.h"

namespace axle::cli {

namespace {

using session::Opt;

struct CiRow {
  std::string_view name;
  std::string_view summary;
  std::string_view example;
  int (*run)(session::Session& session, Output& output);
};

constexpr CiRow ci_rows[] = {
    {"ci github", "Write a workflow of GitHub Actions for the variants of the project in DIR",
     "variant ci github .\n"
     "variant ci github . --check    exit code 4 if the file is not up to date",
     run_ci_github},
    {"ci gitlab", "Write a pipeline of GitLab CI/CD for the variants of the project in DIR",
     "variant ci gitlab packages/demo", run_ci_gitlab},
    {"ci slurm",
     "Write a script that submits job arrays to Slurm for the variants of the project in DIR",
     "variant ci slurm .    then: sh variants.slurm --partition=build", run_ci_slurm},
    {"ci make", "Write a Makefile for the variants of the project in DIR",
     "variant ci make .    then: make -f variants.mk -j4 publish", run_ci_make}};

}  // namespace

Command ci_row(std::string_view name) {
  for (const CiRow& row : ci_rows) {
    if (row.name != name) continue;
    return {row.name,    row.summary, "DIR",     Arity::one, {Opt::ci_file, Opt::ci_check},
            row.example, row.run,     no_machine};
  }
  return {
      "ci",    "Write the CI file that builds, tests, audits and publishes a project's variants",
      "",      Arity::none,
      {},      "",
      nullptr, no_machine};
}

}  // namespace axle::cli
