// A workflow of GitHub Actions.
#include <fmt/format.h>

#include "builder/ci/ci_file.h"
#include "builder/ci/ci_script.h"
#include "builder/ci/quoting.h"
#include "foundation/system/shell_command.h"

namespace axle::builder {

namespace {

// Actions by their commits: a tag can be moved.
constexpr std::string_view checkout =
    "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683  # v4.2.2";
constexpr std::string_view cache =
    "actions/cache@5a3ec84eff668545956fd18022155c47e93e2684  # v4.2.3";
constexpr std::string_view upload =
    "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02  # v4.6.2";
constexpr std::string_view download =
    "actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093  # v4.3.0";

/// Of a step, which GitHub interpolates before the shell reads it.
std::string run_lines(std::string_view script) {
  std::string escaped;
  for (std::size_t at = 0; at < script.size(); ++at) {
    if (script.substr(at).starts_with("${{")) {
      escaped += "${{ '${{' }}";
      at += 2;
    } else {
      escaped += script[at];
    }
  }
  return indented(escaped, "          ");
}

std::string step(std::string_view name, std::string_view script) {
  return fmt::format("      - name: \"{}\"\n        run: |\n{}", name, run_lines(script));
}

std::string github_setup(const std::vector<std::string>& setup) {
  std::string text = fmt::format(
      "      - uses: {}\n        with:\n          persist-credentials: false\n", checkout);
  if (setup.empty()) return text;
  std::string script = "set -eu\n";
  for (const std::string& line : setup) script += line + "\n";
  return text + step("Set up", script);
}

std::string github_labels(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) text += (text.size() > 1 ? ", " : "") + github_text(name);
  return text + "]";
}

std::string github_check(const CiPlan& plan) {
  const std::vector<std::string> command = {"ci", "github", plan.project, "--check",
                                            "--out=" + plan.file};
  return fmt::format(
      "  \"check\":\n"
      "    name: \"This file is up to date\"\n"
      "    runs-on: {}\n"
      "    permissions:\n"
      "      contents: read\n"
      "    steps:\n{}{}",
      github_labels(plan.groups.front().settings().runs_on), github_setup(plan.setup),
      step("Compare", fmt::format("\"$VARIANT\" {}\n", shell_command(command))));
}

std::string github_group(const CiPlan& plan, const CiGroup& group) {
  std::string text = fmt::format(
      "  \"{}\":\n"
      "    name: \"${{{{ matrix.VARIANT_JOB }}}}\"\n"
      "    needs: [\"check\"]\n"
      "    runs-on: {}\n"
      "    permissions:\n"
      "      contents: read\n"
      "    strategy:\n"
      "      fail-fast: false\n"
      "      matrix:\n"
      "        include:\n",
      group.name, github_labels(group.settings().runs_on));
  for (const CiJob& job : group.jobs) {
    std::string_view before = "          - ";
    for (const auto& [name, value] : job_variables(job)) {
      text += fmt::format("{}{}: {}\n", before, name, github_text(value));
      before = "            ";
    }
  }
  text += "    env:\n";
  for (const auto& [name, value] : job_variables(group.jobs.front()))
    text += fmt::format("      {}: \"${{{{ matrix.{} }}}}\"\n", name, name);
  text += "      AXLE_CACHE_DIR: \"${{ github.workspace }}/.variant-cache\"\n    steps:\n";
  text += github_setup(*group.settings().setup);
  text += fmt::format(
      "      - name: \"What decides the result\"\n        id: \"key\"\n        run: |\n{}",
      run_lines(key_script(plan) + "echo \"key=$key\" >>\"$GITHUB_OUTPUT\"\n"));
  text += fmt::format(
      "      - uses: {}\n        with:\n          path: \".variant-cache\"\n"
      "          key: \"variants-${{{{ env.VARIANT_NAME }}}}-${{{{ matrix.VARIANT_JOB }}}}-${{{{ "
      "matrix.VARIANT_ROW }}}}-"
      "${{{{ steps.key.outputs.key }}}}-${{{{ github.sha }}}}\"\n"
      "          restore-keys: |\n"
      "            variants-${{{{ env.VARIANT_NAME }}}}-${{{{ matrix.VARIANT_JOB }}}}-${{{{ "
      "matrix.VARIANT_ROW }}}}-"
      "${{{{ steps.key.outputs.key }}}}-\n",
      cache);
  text += step("Build", build_script()) + step("Smoke test", smoke_script()) +
          step("Audit", audit_script());
  return text + fmt::format(
                    "      - uses: {}\n        with:\n"
                    "          name: \"wheel-${{{{ matrix.VARIANT_JOB }}}}\"\n"
                    "          path: \"dist-variants/*.whl\"\n"
                    "          if-no-files-found: \"error\"\n",
                    upload);
}

// A netrc file from a secret, which is a text; it goes with the step.
constexpr std::string_view netrc_lines = R"(if [ -n "$NETRC_TEXT" ]; then
  NETRC=$(mktemp)
  trap 'rm -f "$NETRC"' EXIT
  printf '%s\n' "$NETRC_TEXT" >"$NETRC"
  export NETRC
  unset NETRC_TEXT
fi
)";

/// What publishing is told. Secrets are known to this step alone, as variables: no command line and
/// no log has them. One that is not set is empty, as if it were not there.
std::string github_access(CiTarget target) {
  struct Row {
    CiTarget target;
    std::string_view variable;
    std::string_view source;
  };
  constexpr Row rows[] = {
      {CiTarget::storage, "AWS_ACCESS_KEY_ID", "secrets.AWS_ACCESS_KEY_ID"},
      {CiTarget::storage, "AWS_SECRET_ACCESS_KEY", "secrets.AWS_SECRET_ACCESS_KEY"},
      {CiTarget::storage, "AWS_SESSION_TOKEN", "secrets.AWS_SESSION_TOKEN"},
      {CiTarget::storage, "AWS_ENDPOINT_URL_S3", "vars.AWS_ENDPOINT_URL_S3"},
      {CiTarget::storage, "AWS_REGION", "vars.AWS_REGION"},
      {CiTarget::server, "NETRC_TEXT", "secrets.NETRC"},
      {CiTarget::uploads, "UV_PUBLISH_TOKEN", "secrets.UV_PUBLISH_TOKEN"},
      {CiTarget::uploads, "UV_PUBLISH_USERNAME", "secrets.UV_PUBLISH_USERNAME"},
      {CiTarget::uploads, "UV_PUBLISH_PASSWORD", "secrets.UV_PUBLISH_PASSWORD"}};
  std::string text;
  for (const Row& row : rows) {
    if (row.target == target)
      text += fmt::format("          {}: \"${{{{ {} }}}}\"\n", row.variable, row.source);
  }
  return text.empty() ? text : "        env:\n" + text;
}

std::string github_publish(const CiPlan& plan) {
  std::string needs;
  for (const CiGroup& group : plan.groups)
    needs += fmt::format("{}\"{}\"", needs.empty() ? "" : ", ", group.name);
  std::string text = fmt::format(
      "  \"publish\":\n"
      "    name: \"publish\"\n"
      "    needs: [{}]\n"
      "    if: \"github.ref_type == 'tag'\"\n"
      "    runs-on: {}\n"
      "    permissions:\n"
      "      contents: read\n"
      "    concurrency:\n"
      "      group: \"publish-variants\"\n"
      "      cancel-in-progress: false\n"
      "    steps:\n{}"
      "      - uses: {}\n        with:\n          pattern: \"wheel-*\"\n"
      "          path: \"dist-variants\"\n          merge-multiple: true\n",
      needs, github_labels(plan.groups.front().settings().runs_on), github_setup(plan.setup),
      download);
  text += "      - name: \"Publish\"\n";
  text += github_access(plan.target) + "        run: |\n";
  if (plan.target == CiTarget::server) text += run_lines(netrc_lines);
  text += run_lines(publish_script(plan));
  if (plan.target == CiTarget::folder) {
    text += fmt::format(
        "      - uses: {}\n        with:\n          name: \"index\"\n          path: {}\n"
        "          if-no-files-found: \"error\"\n",
        upload, github_text(plan.index));
  }
  return text;
}

}  // namespace

std::string render_github(const CiPlan& plan) {
  std::string text = fmt::format(
      "# Written by `variant ci github` from [variant] and [tool.axle] of\n"
      "# {}/pyproject.toml: change them and write it again.\n"
      "name: {}\n"
      "\"on\":\n"
      "  push: {{}}\n"
      "  pull_request: {{}}\n"
      "  workflow_dispatch: {{}}\n"
      "permissions:\n"
      "  contents: read\n"
      "defaults:\n"
      "  run:\n"
      "    shell: \"sh -eu {{0}}\"\n"
      "env:\n"
      "  VARIANT: \"variant\"\n"
      "  VARIANT_DIST: \"dist-variants\"\n",
      comment_text(plan.project), github_text("variants of " + plan.title));
  for (const auto& [name, value] : common_variables(plan))
    text += fmt::format("  {}: {}\n", name, github_text(value));
  text += "jobs:\n" + github_check(plan);
  for (const CiGroup& group : plan.groups) text += github_group(plan, group);
  return text + github_publish(plan);
}

}  // namespace axle::builder
