// A Makefile for GNU make.
#include <fmt/format.h>

#include "builder/ci/ci_file.h"
#include "builder/ci/ci_script.h"
#include "builder/ci/local_jobs.h"
#include "builder/ci/quoting.h"
#include "foundation/system/shell_command.h"

namespace axle::builder {

namespace {

std::string make_rule(std::string_view target, std::string_view needs, const std::string& script) {
  return fmt::format("\n{}:{}{}\n\t@\n{}", target, needs.empty() ? "" : " ", needs,
                     indented(make_text(script), "\t"));
}

}  // namespace

std::string render_make(const CiPlan& plan) {
  std::string targets;
  for (const CiGroup& group : plan.groups) {
    for (const CiJob& job : group.jobs)
      targets += fmt::format("{}variant-{}", targets.empty() ? "" : " ", job.name);
  }
  std::string text = fmt::format(
      "# Written by `variant ci make` from [variant] and [tool.axle] of\n"
      "# {0}/pyproject.toml: change them and write it again. GNU make runs it where that path "
      "begins:\n"
      "# build (the default: all variants), publish, check (that this file is up to date), and a "
      "target\n"
      "# for each variant. VARIANT is the program, OUT the folder for all that is made.\n"
      ".ONESHELL:\n"
      ".SUFFIXES:\n"
      "SHELL := /bin/sh\n"
      ".SHELLFLAGS := -euc\n"
      "MAKEFLAGS += --no-builtin-rules --output-sync=target\n"
      "VARIANT ?= variant\n"
      "export VARIANT\n"
      "ifdef OUT\n"
      "export OUT\n"
      "endif\n"
      "\n"
      ".PHONY: build publish check {1}\n"
      "build: {1}\n",
      comment_text(plan.project), targets);
  const std::string common = local_variables(plan);
  for (const CiGroup& group : plan.groups) {
    for (const CiJob& job : group.jobs) {
      text += make_rule("variant-" + job.name, "",
                        common + local_variables(job) + local_job_script(plan));
    }
  }
  text += make_rule("publish", targets, common + local_publish_script(plan));
  const std::vector<std::string> command = {"ci", "make", plan.project, "--check",
                                            "--out=" + plan.file};
  text += make_rule("check", "", fmt::format("\"$VARIANT\" {}\n", shell_command(command)));
  return text;
}

}  // namespace axle::builder
