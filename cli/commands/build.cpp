// build: builds wheels.
#include "builder/build.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "foundation/text/byte_size.h"
#include "index/storage/storage_address.h"
#include "session/builds/build_variables.h"
#include "session/builds/project_wheels.h"
#include "session/cache/cache_lock.h"
#include "session/session.h"
#include "session/sole_owner.h"
#include "session/variables.h"
#include "session/workspace.h"
#include "wheel/hash/sha256.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

std::string render(const std::vector<builder::BuiltWheel>& wheels) {
  std::string text;
  for (const builder::BuiltWheel& built : wheels) {
    text += fmt::format("{}  {}{}\n", std::filesystem::path(built.file).filename().string(),
                        text::render_bytes(built.size), built.reused ? ", unchanged" : "");
  }
  return text;
}

ordered_json wheels_json(const std::vector<builder::BuiltWheel>& wheels) {
  ordered_json rows = ordered_json::array();
  for (const builder::BuiltWheel& built : wheels) {
    rows.push_back(
        {{"file", built.file},
         {"label", built.label.empty() ? ordered_json(nullptr) : ordered_json(built.label)},
         {"architecture",
          built.architecture.empty() ? ordered_json(nullptr) : ordered_json(built.architecture)},
         {"sha256", built.sha256},
         {"size", built.size},
         {"log", built.log.empty() ? ordered_json(nullptr) : ordered_json(built.log)},
         {"reused", built.reused}});
  }
  return rows;
}

/// Where builds of that project are kept; empty: nowhere.
std::string work_folder(const session::Session& session, const std::string& project,
                        Output& output) {
  if (session.cache_folder().empty()) return {};
  auto cache = session::own_folder(session.cache_folder());
  auto builds = cache ? session::own_folder(*cache + "/variant-builds") : cache;
  if (!builds) {
    output.detail("what is built is not kept: " + builds.error().message);
    return {};
  }
  std::error_code error;
  const auto place = std::filesystem::weakly_canonical(project, error);
  return fmt::format("{}/{}", *builds,
                     wheel::render_hex(wheel::sha256(place.string())).substr(0, 32));
}

/// --jobs, else what a user has told other builds by: CMake's variable, and that of packages with
/// CUDA code. 0: nobody said anything.
session::Outcome<unsigned> read_jobs(const session::Arguments& arguments) {
  std::string said = "--jobs ";
  std::string text = arguments.value(session::Opt::jobs);
  if (!arguments.has(session::Opt::jobs)) {
    for (const char* name : {"CMAKE_BUILD_PARALLEL_LEVEL", "MAX_JOBS"}) {
      if (!text.empty()) break;
      text = session::variable(name);
      said = fmt::format("{}=", name);
    }
    if (text.empty()) return 0U;
  }
  unsigned jobs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  constexpr unsigned most = 10'000;
  if (error == std::errc() && end == text.data() + text.size() && jobs > 0 && jobs <= most)
    return jobs;
  return session::misused(fmt::format("{}{}: expected a number from 1 to {}", said, text, most));
}

/// What the environment of this program says of compilers, and the Python environment, which is
/// only opened if something asks for it.
class BuildEnvironment {
 public:
  explicit BuildEnvironment(session::Session& session) : session_(session) {}

  /// Refers to this object.
  void describe(builder::BuildOptions& options) {
    builder::ToolchainPlaces& places = options.toolchains;
    places.c = session::variable("CC");
    places.cxx = session::variable("CXX");
    places.cuda = session::variable("CUDACXX");
    places.hip = session::variable("HIPCXX");
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
      if (auto folder = session::variable(name); !folder.empty())
        places.cuda_toolkits.push_back(std::move(folder));
    }
    if (auto folder = session::variable("ROCM_PATH"); !folder.empty())
      places.rocm.push_back(std::move(folder));
    places.rocm.emplace_back("/opt/rocm");
    places.python_toolkits = [this] { return toolkits(); };
    options.inherited = session::build_variables();
    options.open_back_end = [this]() -> Result<builder::BackEnd> { return back_end(); };
  }

  /// With the exit code of what ended it.
  [[nodiscard]] session::CommandFailure failure(const Error& error) const {
    return failure_.value_or(session::failed(error).error());
  }

 private:
  Result<builder::BackEnd> back_end() {
    auto opened = session::ProjectWheels::open(session_);
    if (!opened) {
      failure_ = opened.error();
      return std::unexpected(failure_->error);
    }
    wheels_ = std::move(*opened);
    return builder::BackEnd{[this](const builder::BackEndRun& run, Report& report) {
                              return wheels_->build({run.project, run.into, run.scratch, run.log,
                                                     run.variables, run.config_settings, run.title},
                                                    report);
                            },
                            wheels_->identity(), wheels_->compile_flags()};
  }

  /// Of nvidia-cuda-nvcc: "site-packages/nvidia/cu13".
  std::vector<std::string> toolkits() {
    std::vector<std::string> folders;
    const auto environment = session::open_environment(session_, true);
    if (!environment) return folders;
    std::error_code error;
    const std::filesystem::path packages = environment->platlib + "/nvidia";
    for (std::filesystem::directory_iterator it(packages, error), end; !error && it != end;
         it.increment(error))
      folders.push_back(it->path().string());
    std::ranges::sort(folders, std::greater());
    return folders;
  }

  session::Session& session_;
  std::unique_ptr<session::ProjectWheels> wheels_;
  std::optional<session::CommandFailure> failure_;
};

}  // namespace

int run_build(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  if (index::is_stored_elsewhere(arguments.value(session::Opt::out))) {
    return output.failure(
        session::misused("--out: build writes to a folder; `variant index add` takes its wheels to "
                         "a storage or a WebDAV server")
            .error());
  }
  const auto epoch = session::source_date_epoch();
  if (!epoch) return output.failure(epoch.error());
  builder::BuildOptions options;
  const auto jobs = read_jobs(arguments);
  if (!jobs) return output.failure(jobs.error());
  options.project_folder = arguments.positionals.front();
  options.out_folder = arguments.value(session::Opt::out);
  options.labels = arguments.values(session::Opt::build_variant);
  options.architectures = arguments.values(session::Opt::architecture);
  options.source_date_epoch = epoch->value_or(0);
  options.jobs = *jobs;
  options.configures_back_end = arguments.has(session::Opt::config_settings);
  const auto cache = session::share_cache(session.cache_folder(), output);
  options.work_folder = work_folder(session, options.project_folder, output);
  BuildEnvironment environment(session);
  environment.describe(options);
  auto wheels = builder::build_project(options, output);
  if (!wheels) return output.failure(environment.failure(wheels.error()));
  output.change_was_made();
  return output.answer(
      {.text = [&] { return render(*wheels); },
       .json = [&]() -> ordered_json { return {{"wheels", wheels_json(*wheels)}}; }});
}

}  // namespace axle::cli
