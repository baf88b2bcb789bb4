#include "session/plugins/plugin_environments.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "detect/machine.h"
#include "index/http/url.h"
#include "installer/transaction/changes.h"
#include "resolver/solver/solver.h"
#include "session/sole_owner.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// Messages of a plugin's installation are irrelevant to someone who installs something else.
class QuietReport final : public Report {
 public:
  explicit QuietReport(Report& inner) : inner_(inner) {}
  void add(Remark remark) override { inner_.detail("plugin: " + remark.message); }
  void progress(const Work& work) override { inner_.progress(work); }
  void download(const Download& download) override { inner_.download(download); }

 private:
  Report& inner_;
};

/// The installation that an environment's interpreter belongs to, links resolved.
struct BasePython {
  std::string executable;
  std::string folder;  ///< above bin; may be "/usr"
};

BasePython base_of(const installer::Environment& environment) {
  std::error_code error;
  fs::path executable = fs::canonical(environment.python, error);
  // Created with --copies: the interpreter is in the environment, which names its home.
  const fs::path prefix = fs::canonical(environment.prefix, error);
  const bool inside = executable.string().starts_with(prefix.string() + "/");
  std::ifstream file(environment.prefix + "/pyvenv.cfg");
  for (std::string line; inside && std::getline(file, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || !line.starts_with("home")) continue;
    const std::size_t first = line.find_first_not_of(' ', equals + 1);
    if (first == std::string::npos) continue;
    const fs::path home = fs::canonical(fs::path(line.substr(first)) / "python3", error);
    if (!error) executable = home;
  }
  return {executable.string(), executable.parent_path().parent_path().string()};
}

/// Distinguishes a wheel from others of the same name: its hash, else its location; for a local
/// file also its modification time, since a folder lists no hashes.
std::string identity_of(const plan::ResolvedPackage& package) {
  if (const auto sha256 = package.hash.sha256(); !sha256.empty()) return std::string(sha256);
  const auto path = index::file_path(package.url);
  if (!path) return package.url;
  std::error_code error;
  const auto written = fs::last_write_time(*path, error).time_since_epoch().count();
  const std::uintmax_t size = fs::file_size(*path, error);
  return fmt::format("{} {} {}", package.url, size, written);
}

std::string key_of(const installer::Environment& environment, const plan::Resolution& resolution) {
  const BasePython base = base_of(environment);
  std::string text =
      fmt::format("{} {}\n", base.executable, wheel::render_version(environment.python_version));
  for (const plan::ResolvedPackage& package : resolution.packages) {
    text += fmt::format("{} {} {} {}\n", package.name, wheel::render_version(package.version),
                        package.filename, identity_of(package));
  }
  return wheel::render_hex(wheel::sha256(text)).substr(0, 32);
}

Result<void> write_frame(const std::string& place, const installer::Environment& environment) {
  const BasePython base = base_of(environment);
  std::error_code error;
  fs::create_directories(place + "/bin", error);
  if (!error) fs::create_symlink(base.executable, place + "/bin/python", error);
  std::ofstream file(place + "/pyvenv.cfg");
  file << "home = " << fs::path(base.executable).parent_path().string()
       << "\ninclude-system-site-packages = false\n";
  file.close();
  if (!error && file) return {};
  return fail(ErrorKind::io, fmt::format("{}: cannot be written", place));
}

constexpr auto kept_unused = std::chrono::hours(24 * 30);
constexpr auto longest_making = std::chrono::hours(24);

plugins::PluginFailure failure(const Error& error) {
  return {plugins::PluginFault::not_started, error.message, error.hint};
}

}  // namespace

std::vector<std::string> readable_folders(const std::string& place,
                                          const installer::Environment& environment) {
  const std::string base = base_of(environment).folder;
  std::vector<std::string> folders = {base + "/bin", base + "/lib", base + "/lib64"};
  // The installation itself may have been reached through a link.
  std::error_code error;
  if (const fs::path folder = fs::canonical(place, error); !error && folder != base)
    folders.push_back(folder.string());
  return folders;
}

Result<void> place_environment(const std::string& made, const std::string& place) {
  if (::rename(made.c_str(), place.c_str()) == 0) return {};
  const int number = errno;  // of the rename: the next call sets its own
  std::error_code ignored;
  if (fs::exists(place, ignored)) return {};
  return fail(ErrorKind::io, fmt::format("{}: {}", place, std::strerror(number)));
}

void discard_unused(const std::string& kept) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  std::vector<fs::path> old;
  for (auto entry = fs::directory_iterator(kept, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const bool whole = !entry->path().has_extension();
    std::error_code unknown;
    const auto age = now - entry->last_write_time(unknown);
    if (!unknown && age > (whole ? kept_unused : longest_making)) old.push_back(entry->path());
  }
  for (const fs::path& path : old) {
    // Moved away with one rename first, so that what is visible is always complete.
    const fs::path gone = path.has_extension() ? path : fs::path(path.string() + ".gone");
    if (gone != path) fs::rename(path, gone, error);
    fs::remove_all(gone, error);
  }
}

InstalledEnvironments::~InstalledEnvironments() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

Result<std::string> InstalledEnvironments::folder() {
  if (!cache_folder_.empty()) {
    // Also the cache: its store has the files that environments consist of.
    const auto cache = own_folder(cache_folder_);
    auto kept = cache ? own_folder(*cache + "/plugins") : cache;
    if (kept) {
      cache_folder_ = *cache;
      return kept;
    }
    report_.detail("plugins are installed again in each run: " + kept.error().message);
  }
  if (!temporary_.empty()) return temporary_;
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "axle-plugins-XXXXXX").string();
  if (!error && ::mkdtemp(pattern.data()) == nullptr) error = {errno, std::generic_category()};
  if (error)
    return fail(ErrorKind::io,
                fmt::format("cannot create a temporary folder: {}", error.message()));
  temporary_ = pattern;
  return temporary_;
}

Result<plan::Resolution> InstalledEnvironments::resolve(
    const std::vector<std::string>& requirements, Report& report) {
  resolver::Requests requests;
  for (const std::string& text : requirements) {
    auto requirement = wheel::parse_requirement(text);
    if (!requirement) return std::unexpected(requirement.error());
    requests.requirements.push_back({std::move(*requirement)});
  }
  // Plain wheels only: a plugin that needed a plugin would recurse without end (PEP 850).
  resolver::Options options;
  options.variants = false;
  resolver::Sources sources = sources_;
  sources.families = nullptr;
  const detect::Machine nothing_known;
  const resolver::Target target{&nothing_known, wheel::supported_tags(environment_.tag_target),
                                environment_.markers, environment_.python_version};
  return resolver::resolve(requests, target, {}, sources, options, report);
}

Result<void> InstalledEnvironments::make(const std::string& place,
                                         const plan::Resolution& resolution, Report& report) {
  std::string work = place + ".XXXXXX";
  if (::mkdtemp(work.data()) == nullptr)
    return fail(ErrorKind::io, fmt::format("{}: {}", place, std::strerror(errno)));
  const auto fill = [&]() -> Result<void> {
    if (const auto framed = write_frame(work, environment_); !framed) return framed;
    installer::EnvironmentRequest request;
    request.python = work;
    auto made = installer::find_environment(request);
    if (!made) return std::unexpected(made.error());
    const std::string store = (temporary_.empty() ? cache_folder_ : temporary_) + "/store";
    auto done = installer::install(resolution, *made, *sources_.transport, {store}, report);
    if (!done) return std::unexpected(done.error());
    return {};
  };
  const Result<void> filled = fill();
  const Result<void> placed = filled ? place_environment(work, place) : filled;
  std::error_code ignored;
  fs::remove_all(work, ignored);
  return placed;
}

std::expected<plugins::PluginEnvironment, plugins::PluginFailure>
InstalledEnvironments::environment_with(const std::vector<std::string>& requirements) {
  QuietReport quiet(report_);
  auto resolution = resolve(requirements, quiet);
  if (!resolution) return std::unexpected(failure(resolution.error()));
  if (attestations_ != nullptr) {
    if (const auto good = attestations_->check(*resolution); !good)
      return std::unexpected(failure(good.error()));
  }
  const auto kept = folder();
  if (!kept) return std::unexpected(failure(kept.error()));
  const std::string place = *kept + "/" + key_of(environment_, *resolution);
  if (!fs::exists(place + "/pyvenv.cfg")) {
    if (const auto made = make(place, *resolution, quiet); !made)
      return std::unexpected(failure(made.error()));
    discard_unused(*kept);
  } else {
    std::error_code ignored;
    fs::last_write_time(place, fs::file_time_type::clock::now(), ignored);
  }
  plugins::PluginEnvironment environment{
      place + "/bin/python", readable_folders(place, environment_), {}};
  const auto first = wheel::parse_requirement(requirements.front());
  for (const plan::ResolvedPackage& package : resolution->packages) {
    if (first && package.name == wheel::normalize_name(first->name))
      environment.version = wheel::render_version(package.version);
  }
  return environment;
}

}  // namespace axle::session
