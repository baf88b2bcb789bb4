// A pipeline of GitLab CI/CD.
#include <fmt/format.h>

#include "builder/ci/ci_file.h"
#include "builder/ci/ci_script.h"
#include "builder/ci/quoting.h"
#include "foundation/system/shell_command.h"
#include "wheel/hash/sha256.h"

namespace axle::builder {

namespace {

/// One entry of `script`: its lines are one program of the shell.
std::string gitlab_entry(std::string_view script) {
  return fmt::format("    - |\n{}", indented(script, "      "));
}

std::string gitlab_texts(const std::vector<std::string>& all) {
  std::string text = "[";
  for (const std::string& one : all) text += (text.size() > 1 ? ", " : "") + yaml_text(one);
  return text + "]";
}

std::string gitlab_setup(const std::vector<std::string>& setup) {
  std::string script = "set -eu\n";
  for (const std::string& line : setup) script += line + "\n";
  return gitlab_entry(script);
}

/// GitLab expands variables in the names of images, too.
std::string gitlab_runner(const JobSettings& settings) {
  std::string text = fmt::format("  image: {}\n", gitlab_value(settings.image));
  if (!settings.tags.empty()) {
    text += "  tags: [";
    bool first = true;
    for (const std::string& tag : settings.tags) {
      text += (first ? "" : ", ") + gitlab_value(tag);
      first = false;
    }
    text += "]\n";
  }
  return text;
}

std::string gitlab_check(const CiPlan& plan) {
  const std::vector<std::string> command = {"ci", "gitlab", plan.project, "--check",
                                            "--out=" + plan.file};
  return fmt::format("\"variants: check\":\n  stage: \"build\"\n{}  script:\n{}{}",
                     gitlab_runner(plan.groups.front().settings()), gitlab_setup(plan.setup),
                     gitlab_entry(fmt::format("\"$VARIANT\" {}\n", shell_command(command))));
}

std::string gitlab_cache(const CiPlan& plan) {
  std::string text = "  cache:\n    key:";
  const std::string_view name = "variants-$VARIANT_NAME-$VARIANT_JOB-$VARIANT_ROW";
  if (plan.lock_files.empty()) {
    text += fmt::format(" \"{}\"\n", name);
  } else {
    text += fmt::format("\n      files: {}\n      prefix: \"{}\"\n", gitlab_texts(plan.lock_files),
                        name);
  }
  return text + "    paths: [\".variant-cache/\"]\n";
}

std::string gitlab_group(const CiPlan& plan, const CiGroup& group) {
  std::string text = fmt::format("\"variants: {}\":\n  stage: \"build\"\n{}", group.name,
                                 gitlab_runner(group.settings()));
  text += "  parallel:\n    matrix:\n";
  for (const CiJob& job : group.jobs) {
    std::string_view before = "      - ";
    for (auto& [name, value] : job_variables(job)) {
      // The compilers are those of the image.
      const std::string shown =
          name == "VARIANT_ROW"
              ? wheel::render_hex(wheel::sha256(value + group.settings().image)).substr(0, 16)
              : value;
      text += fmt::format("{}{}: {}\n", before, name, gitlab_value(shown));
      before = "        ";
    }
  }
  text += gitlab_cache(plan);
  text +=
      "  retry:\n    max: 2\n    when: [\"runner_system_failure\", \"stuck_or_timeout_failure\"]\n";
  text += "  script:\n" + gitlab_setup(*group.settings().setup) + gitlab_entry(build_script()) +
          gitlab_entry(smoke_script()) + gitlab_entry(audit_script());
  return text + "  artifacts:\n    paths: [\"dist-variants/$VARIANT_JOB/\"]\n";
}

std::string gitlab_publish(const CiPlan& plan) {
  std::string text = fmt::format(
      "\"variants: publish\":\n  stage: \"deploy\"\n{}  needs:\n    - job: \"variants: check\"\n",
      gitlab_runner(plan.groups.front().settings()));
  for (const CiGroup& group : plan.groups)
    text += fmt::format("    - job: \"variants: {}\"\n      artifacts: true\n", group.name);
  text +=
      "  rules:\n    - if: \"$CI_COMMIT_TAG\"\n"
      "  resource_group: \"publish-variants\"\n"
      "  variables:\n    VARIANT_DIST: \"dist-variants/all\"\n"
      "  script:\n";
  text += gitlab_setup(plan.setup);
  text += gitlab_entry(
      "mkdir -p \"$VARIANT_DIST\"\n"
      "find dist-variants -path \"$VARIANT_DIST\" -prune -o -name '*.whl' -type f -exec cp {} "
      "\"$VARIANT_DIST\" ';'\n");
  text += gitlab_entry(publish_script(plan));
  if (plan.target == CiTarget::folder)
    text += fmt::format("  artifacts:\n    paths: [{}]\n", gitlab_value(plan.index));
  return text;
}

}  // namespace

std::string render_gitlab(const CiPlan& plan) {
  std::string text = fmt::format(
      "# Written by `variant ci gitlab` from [variant] and [tool.axle] of\n"
      "# {}/pyproject.toml: change them and write it again. .gitlab-ci.yml includes it:\n"
      "# include: [{{local: {}}}]\n"
      "variables:\n"
      "  VARIANT: \"variant\"\n"
      "  VARIANT_DIST: \"dist-variants/$VARIANT_JOB\"\n"
      "  AXLE_CACHE_DIR: \"$CI_PROJECT_DIR/.variant-cache\"\n",
      comment_text(plan.project), comment_text(yaml_text(plan.file)));
  for (const auto& [name, value] : common_variables(plan))
    text += fmt::format("  {}: {}\n", name, gitlab_value(value));
  text += gitlab_check(plan);
  for (const CiGroup& group : plan.groups) text += gitlab_group(plan, group);
  return text + gitlab_publish(plan);
}

}  // namespace axle::builder
