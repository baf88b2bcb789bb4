// The jobs that follow from a table, and the quoting of what is written.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "builder/ci/ci_file.h"
#include "builder/ci/ci_plan.h"
#include "builder/ci/line_difference.h"
#include "builder/ci/quoting.h"

namespace axle::builder {
namespace {

const std::string table = R"(
[project]
name = "demo"
version = "1.0"
[tool.axle]
packages = ["src/demo", "one.py"]
[tool.axle.axes.cpu]
null = { architectures = ["x86_64", "aarch64"] }
v3 = { properties.x86_64.level = ["v3"] }
v4 = { properties.x86_64.level = ["v4"] }
i8mm = { properties.aarch64.i8mm = ["on"] }
[[tool.axle.variant]]
)";

Result<CiPlan> plan_of(const std::string& more, std::size_t largest = 100) {
  CollectedReport report;
  const auto project = parse_project(table + more, "pyproject.toml", report);
  if (!project) return std::unexpected(project.error());
  return plan_ci(*project, {"runtime", "runtime/variants.mk", largest, {"install"}, {"cross"}});
}

std::string shape(const CiPlan& plan) {
  std::string text;
  for (const CiGroup& group : plan.groups) {
    text += group.name + ":";
    for (const CiJob& job : group.jobs) text += " " + job.name;
    text += "\n";
  }
  return text;
}

const CiJob& job_named(const CiPlan& plan, const std::string& name) {
  for (const CiGroup& group : plan.groups) {
    for (const CiJob& job : group.jobs) {
      if (job.name == name) return job;
    }
  }
  FAIL("no job " << name);
  return plan.groups.front().jobs.front();
}

void check_refused(const std::string& more, const std::string& message) {
  const auto plan = plan_of(more);
  REQUIRE_FALSE(plan.has_value());
  CHECK_MESSAGE(plan.error().message.find(message) != std::string::npos, plan.error().message);
}

TEST_CASE("ci: a job for each row, in groups of what they run on") {
  const auto plan = plan_of("");
  REQUIRE(plan.has_value());
  CHECK(shape(*plan) ==
        "build-x86_64: null v3 v4 plain\n"
        "cross-aarch64: null-aarch64 i8mm-aarch64\n");
  CHECK(plan->count == 6);
  CHECK(plan->imports == std::vector<std::string>{"demo", "one"});
  CHECK(job_named(*plan, "v3").settings.smoke == "native");
  CHECK(job_named(*plan, "i8mm-aarch64").settings.smoke == "emulated");
  CHECK(job_named(*plan, "i8mm-aarch64").settings.machine == "aarch64:i8mm");
  CHECK(*job_named(*plan, "v3").settings.setup == std::vector<std::string>{"install"});
  CHECK(*job_named(*plan, "i8mm-aarch64").settings.setup ==
        std::vector<std::string>{"install", "cross"});
}

TEST_CASE("ci: rules change jobs, and large groups are divided") {
  const auto plan = plan_of(R"(
[tool.axle.ci.slurm]
cpus-per-task = 4
mem = "8G"
[[tool.axle.ci.jobs]]
labels = ["v4"]
slurm = { mem = "16G", exclusive = true }
[[tool.axle.ci.jobs]]
architecture = "aarch64"
host = "aarch64"
)",
                            1);
  REQUIRE(plan.has_value());
  CHECK(shape(*plan) ==
        "build-x86_64: null\nbuild-aarch64: null-aarch64\nbuild-x86_64-2: v3\nbuild-x86_64-3: v4\n"
        "build-aarch64-2: i8mm-aarch64\nbuild-x86_64-4: plain\n");
  CHECK(job_named(*plan, "v4").settings.slurm ==
        Definitions{{"cpus-per-task", "4"}, {"exclusive", ""}, {"mem", "16G"}});
  CHECK(job_named(*plan, "i8mm-aarch64").settings.smoke == "native");
  CHECK(job_named(*plan, "i8mm-aarch64").settings.runs_on ==
        std::vector<std::string>{"ubuntu-24.04-arm"});
}

TEST_CASE("ci: the hash of a row is of that row alone") {
  const auto plan = plan_of("");
  const auto other = plan_of("label = \"v3\"\ncompile-args = [\"-g\"]\n");
  REQUIRE(plan.has_value());
  REQUIRE(other.has_value());
  CHECK(job_named(*plan, "v3").row != job_named(*other, "v3").row);
  CHECK(job_named(*plan, "v4").row == job_named(*other, "v4").row);
  CHECK(job_named(*plan, "v3").row != job_named(*plan, "v4").row);
  CHECK(job_named(*plan, "null").row != job_named(*plan, "null-aarch64").row);
}

TEST_CASE("ci: what is wrong in the table has its place") {
  const std::string ci = "[tool.axle.ci]\n";
  check_refused(ci + "image = \"a\\nb\"", "pyproject.toml:14: tool.axle.ci.image");
  check_refused(ci + "image = \"a\\u2028b\"", "must be one line");
  check_refused(ci + "image = \"a\\u0085b\"", "must be one line");
  check_refused(ci + "lock-files = [\"../a\"]", "is not inside the project");
  check_refused(ci + "lock-files = [\"/a\"]", "is not inside the project");
  check_refused(ci + "imports = [\"a b\"]", "is not a name of a Python module");
  check_refused(ci + "python = \"-c\"", "would be an option");
  check_refused(ci + "index = \"a\"\nrepository-url = \"b\"", "not to both");
  check_refused(ci + "index = \"https://me:secret@host/dav\"", "has a login");
  check_refused(ci + "index = \"http://host.example/dav\"", "is not encrypted");
  check_refused(ci + "index = \"https://host/a?b\"", "has a query");
  check_refused(ci + "index = \"s3://\"", "names no bucket");
  check_refused(ci + "index = \"ftp://host/a\"", "is not a place for an index");
  check_refused(ci + "repository-url = \"legacy\"", "is not an address that takes uploads");
  check_refused(ci + "repository-url = \"https://me:secret@host/\"", "has a login");
  check_refused(ci + "repository-url = \"http://host.example/\"", "is not encrypted");
  check_refused(ci + "slurm.array = \"0\"", "is set by the script");
  check_refused(ci + "slurm.\"a b\" = 1", "is not a valid name of an option");
  check_refused(ci + "smoke-test = \"nativ\"", "\"nativ\" is not valid");
  check_refused(ci + "unknown = 1", "unknown");
  check_refused("[[tool.axle.ci.jobs]]\nlabels = [\"v5\"]",
                "pyproject.toml:13: the project has no");
  check_refused("[[tool.axle.ci.jobs]]\narchitecture = \"aarch64\"\nsmoke-test = \"native\"",
                "its smoke test cannot be \"native\"");
}

TEST_CASE("ci: where wheels are published") {
  const auto target_of = [](const std::string& settings) {
    const auto plan = plan_of("[tool.axle.ci]\n" + settings);
    REQUIRE(plan.has_value());
    return plan->target;
  };
  CHECK(target_of("") == CiTarget::nothing);
  CHECK(target_of("index = \"public\"") == CiTarget::folder);
  CHECK(target_of("index = \"s3://wheels/team\"") == CiTarget::storage);
  CHECK(target_of("index = \"https://host/dav\"") == CiTarget::server);
  CHECK(target_of("repository-url = \"https://host/legacy/\"") == CiTarget::uploads);
}

TEST_CASE("ci: only a folder is an artifact, and each place has its own secrets") {
  const auto written = [](const std::string& settings, auto render) {
    const auto plan = plan_of("[tool.axle.ci]\n" + settings);
    REQUIRE(plan.has_value());
    return render(*plan);
  };
  struct Place {
    std::string settings;
    std::string secret;
  };
  for (const Place& place : {Place{"index = \"s3://wheels/team\"", "secrets.AWS_ACCESS_KEY_ID"},
                             {"index = \"https://host/dav\"", "secrets.NETRC"},
                             {"repository-url = \"https://host/\"", "secrets.UV_PUBLISH_TOKEN"}}) {
    CAPTURE(place.settings);
    const std::string github = written(place.settings, render_github);
    CHECK(github.contains(place.secret));
    CHECK_FALSE(github.contains("name: \"index\""));
    const std::string gitlab = written(place.settings, render_gitlab);
    CHECK_FALSE(gitlab.substr(gitlab.find("variants: publish")).contains("artifacts:\n    paths"));
  }
  const std::string folder = written("index = \"public\"", render_github);
  CHECK(folder.contains("name: \"index\"\n          path: \"public\""));
  CHECK_FALSE(folder.contains("secrets."));
  CHECK(
      written("index = \"public\"", render_gitlab).contains("artifacts:\n    paths: [\"public\"]"));
}

TEST_CASE("ci: text is quoted for its format") {
  CHECK(yaml_text("a\"b\\c: #'") == R"("a\"b\\c: #'")");
  CHECK(github_text("${{ secrets.X }}") == R"("${{ '${{' }} secrets.X }}")");
  CHECK(gitlab_value("$A$$") == R"("$$A$$$$")");
  CHECK(make_text("$(shell x) $$") == "$$(shell x) $$$$");
  CHECK(comment_text("a\nb\\") == "a?b");
}

TEST_CASE("ci: a plain line is one line for every reader") {
  for (const char* good : {"a", " ", "ä", "日本", "😀", "a\\b\"'`$"}) CHECK(is_plain_line(good));
  for (const char* bad :
       {"", "\n", "a\rb", "\t", "\x7f", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf",
        "\xff", "\xc3", "\xc0\x8a", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x8a"})
    CHECK_FALSE(is_plain_line(bad));
}

TEST_CASE("ci: lines that differ") {
  CHECK(line_difference("a\n", "a\n", 9).line == 0);
  const auto changed = line_difference("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n", 9);
  CHECK(changed.line == 2);
  CHECK(changed.lines == std::vector<std::string>{"-2: b", "+ x", "+ e"});
  CHECK(line_difference("", "a\n", 9).lines.front() == "+ a");
  CHECK(line_difference("a", "a\n", 9).line != 0);
  const auto cut = line_difference("1\n2\n3\n", "", 2);
  CHECK(cut.lines.size() == 2);
  CHECK(cut.left_out == 2);
}

}  // namespace
}  // namespace axle::builder
