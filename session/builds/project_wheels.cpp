#include "session/builds/project_wheels.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/program_run.h"
#include "index/http/url.h"
#include "session/builds/build_limits.h"
#include "session/builds/source_builds.h"
#include "session/builds/told_program.h"
#include "session/variables.h"
#include "session/workspace.h"
#include "wheel/version.h"

namespace axle::session {

Outcome<std::unique_ptr<ProjectWheels>> ProjectWheels::open(Session& session) {
  auto environment = open_environment(session, true);
  if (!environment) return std::unexpected(environment.error());
  auto settings = read_settings(session.arguments(), environment->prefix, session.pip_section());
  if (!settings) return std::unexpected(settings.error());
  if (const auto all = settings->no_build.find(":all:"); all != settings->no_build.end())
    return failed({ErrorKind::unsupported, fmt::format("nothing may be built: {}", all->second),
                   "unset it to build the variants of a project with its back end"});
  if (!settings->build_settings.empty()) {
    return misused(fmt::format("{}: Axle does not pass this setting on to builds",
                               settings->build_settings.front().origin),
                   "unset it");
  }
  std::unique_ptr<ProjectWheels> wheels(new ProjectWheels());
  wheels->environment_ = std::move(*environment);
  wheels->settings_ = std::move(*settings);
  apply_formats(wheels->settings_.formats, wheels->wheel_use_);
  auto tool = find_build_tool({wheels->environment_, wheels->settings_, wheels->wheel_use_,
                               variable("PATH"), variable("UV_CACHE_DIR"),
                               !session.cache_folder().empty()});
  if (!tool) return failed(tool.error());
  wheels->tool_ = std::move(*tool);
  wheels->time_limit_ = build_time_limit(session.report());
  return wheels;
}

Result<void> ProjectWheels::build(const ProjectBuild& build, Report& report) const {
  const auto limits = limit_words(settings_, tool_, build.scratch);
  if (!limits) return std::unexpected(limits.error());
  system::Program program{tool_.command, build.scratch, tool_.variables, tool_.withheld};
  auto& words = program.arguments;
  // Otherwise pip shows nothing of what a back end prints that succeeds, and cuts what fails.
  if (tool_.takes_urls) words.emplace_back("--verbose");
  words.insert(words.end(), limits->begin(), limits->end());
  for (const auto& [name, value] : build.config_settings)
    words.push_back(fmt::format("--config-settings={}={}", name, value));
  words.insert(words.end(), {tool_.into, build.into,
                             tool_.takes_urls ? index::file_url(build.project) : build.project});
  program.variables.insert(program.variables.end(), build.variables.begin(), build.variables.end());
  program.variables.emplace_back("TMPDIR", build.scratch);
  return run_told({std::move(program), tool_.name, time_limit_, build.log},
                  fmt::format("{} could not be built", build.title), report);
}

std::string ProjectWheels::identity() const {
  std::error_code error;
  const auto python = std::filesystem::canonical(environment_.python, error);
  return fmt::format("{} {} {} {}", python.string(),
                     wheel::render_version(environment_.python_version), tool_.name,
                     build_settings_identity(settings_));
}

std::string ProjectWheels::compile_flags() const {
  constexpr const char* question =
      "import sysconfig; print(sysconfig.get_config_var('CFLAGS') or '')";
  constexpr std::chrono::seconds limit{10};
  const auto answer =
      system::run_program({{environment_.python, "-I", "-c", question}}, {.time_limit = limit});
  if (!answer || answer->exit_code != 0) return {};
  return answer->out.substr(0, answer->out.find_last_not_of(" \r\n") + 1);
}

}  // namespace axle::session
