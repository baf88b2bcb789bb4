#include "session/changes/environment_changes.h"

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// The store of a command without a cache: removed when the command ends.
Result<installer::WorkFolder> temporary_store() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  auto made =
      error ? fail(ErrorKind::io, "no folder for temporary files is available: " + error.message())
            : installer::WorkFolder::create(place.string(), "axle-store-");
  if (!made) made.error().hint = "set TMPDIR, or choose a cache with --cache-dir";
  return made;
}

/// Why nothing can be stored in `cache`: somebody may have made a part of it.
std::error_code why_not_writable(const std::string& cache) {
  std::error_code error;
  fs::create_directories(cache, error);
  if (error) return error;
  for (const char* part : {"", "/store", "/store/wheels", "/store/byte-code"}) {
    if (access((cache + part).c_str(), W_OK) != 0 && errno != ENOENT)
      return {errno, std::generic_category()};
  }
  return {};
}

/// Whether wheels can be stored in `cache`; a warning says why not. That must not prevent an
/// installation.
bool is_writable(const std::string& cache, Report& report) {
  const std::error_code error = why_not_writable(cache);
  if (!error) return true;
  report.warn(fmt::format("the cache {} cannot be written ({}): nothing new is kept in it", cache,
                          error.message()),
              "choose another one with --cache-dir");
  return false;
}

}  // namespace

Outcome<void> refuse_managed(const installer::Environment& environment,
                             const Arguments& arguments) {
  if (!environment.externally_managed || arguments.has(Opt::break_system_packages) ||
      arguments.has(Opt::dry_run)) {
    return {};
  }
  std::string message =
      fmt::format("the environment of {} is managed by the operating system", environment.python);
  if (!environment.externally_managed_message.empty())
    message += ": " + environment.externally_managed_message;
  return failed({ErrorKind::unsupported, std::move(message),
                 "create an environment, `variant venv`, or override this with "
                 "--break-system-packages"});
}

Outcome<ChosenStore> choose_store(const Session& session, bool dry_run, Report& report) {
  const std::string cache = session.cache_folder();
  if (dry_run) return ChosenStore{cache.empty() ? cache : cache + "/store"};
  if (!cache.empty() && is_writable(cache, report)) return ChosenStore{cache + "/store"};
  auto temporary = temporary_store();
  if (!temporary) return failed(temporary.error());
  std::string folder = temporary->path();
  return ChosenStore{std::move(folder), cache.empty() ? cache : cache + "/store",
                     std::move(*temporary)};
}

Outcome<installer::InstallOptions> install_options(const Settings& settings,
                                                   const ChosenStore& store,
                                                   const Session& session) {
  installer::InstallOptions options;
  options.store_folder = store.folder;
  options.cache_folder = session.cache_folder();
  options.read_only_store = store.read_only;
  options.link_mode = settings.link_mode;
  options.compiles_byte_code = settings.compile_bytecode;
  const bool kept = !store.temporary && !session.cache_folder().empty();
  if (options.link_mode == installer::LinkMode::symlink && !kept) {
    return misused(
        "--link-mode symlink needs a cache: links into a temporary store would lead nowhere",
        store.read_only.empty() ? "leave out --no-cache, or use another mode"
                                : "choose a cache that can be written with --cache-dir, or use "
                                  "another mode");
  }
  return options;
}

Outcome<void> complete_facts(const plan::Resolution& resolution, index::Transport& transport,
                             installer::WheelFactsByUrl& facts, Report& report) {
  std::optional<installer::WorkFolder> work;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    const auto known = facts.find(package.url);
    const bool complete = known != facts.end() && !known->second.sha256.empty();
    if (package.already_installed || complete) continue;
    if (!work) {
      auto made = temporary_store();
      if (!made) return failed(made.error());
      work.emplace(std::move(*made));
    }
    auto read = installer::read_wheel_facts(work->path(), package, transport, report);
    if (!read) return failed(read.error());
    facts.insert_or_assign(package.url, std::move(*read));
  }
  return {};
}

Outcome<installer::Changes> plan_as_wheels_say(
    PlanChanges plan, Workspace& workspace, plan::Resolution& resolution,
    installer::InstallOptions options, const std::function<Result<plan::Resolution>()>& resolve,
    Report& report) {
  auto& truths = workspace.sources.true_metadata;
  options.other_metadata = &truths;
  while (true) {
    const std::size_t known = truths.size();
    auto changes = plan({resolution, resolution.replaced}, workspace.environment,
                        workspace.transport.get(), options, report);
    if (changes) return std::move(*changes);
    if (truths.size() == known) return failed(std::move(changes).error());
    report.warn(changes.error().message + "; the wheel's own is used", changes.error().hint);
    auto again = resolve();
    if (!again) return failed_to_choose(std::move(again).error());
    resolution = std::move(*again);
  }
}

}  // namespace axle::session
