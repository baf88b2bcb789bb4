#include "session/plugins/plugin_failures.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <system_error>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "detect/drivers/driver_fingerprint.h"
#include "detect/gpu_vendors.h"
#include "detect/host.h"
#include "foundation/documents/json_object.h"
#include "foundation/system/whole_file.h"
#include "session/session.h"
#include "session/sole_owner.h"
#include "session/version.h"
#include "wheel/hash/sha256.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;
using plugins::PluginFault;

constexpr std::chrono::hours longest{1};
constexpr std::chrono::seconds cheap{1};
constexpr std::size_t largest_failure_file = 1U << 16;

bool costs_time(const plugins::PluginAnswer& answer) {
  constexpr PluginFault ended[] = {PluginFault::timed_out, PluginFault::crashed,
                                   PluginFault::flooded, PluginFault::swarmed};
  return answer.duration >= cheap ||
         std::ranges::find(ended, answer.features.error().fault) != std::end(ended);
}

std::string identity_of_file(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return path + " absent";
  return fmt::format("{} {} {} {} {}.{}", path, status.st_dev, status.st_ino, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::string identity_of_machine() {
  std::vector<detect::GpuVendor> vendors;
  for (const detect::GpuVendorRow& row : detect::gpu_vendors()) vendors.push_back(row.vendor);
  const auto host = detect::make_real_host();
  return detect::fingerprint_drivers(*host, vendors, version);
}

/// Everything its answer depends on, one line each.
std::string identity_of(const plugins::Plugin& plugin, const plugins::AskOptions& options) {
  std::string text = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}\n", plugin.ns, plugins::render_kind(plugin.kind), plugin.package,
      plugin.plugin_api, options.limits.time.count(), options.limits.memory);
  text += identity_of_file(plugin.place) + '\n';
  // An environment's name identifies its content, and its modification time is that of its last
  // use.
  for (const std::string& folder : plugin.folders) text += folder + '\n';
  for (const std::string& device : plugin.devices) text += device + '\n';
  for (const auto& [name, value] : options.environment) text += fmt::format("{}={}\n", name, value);
  return text + identity_of_machine();
}

/// Removes expired failures, and leftovers of killed runs.
void remove_old(const std::string& folder) {
  std::error_code error;
  const auto oldest = fs::file_time_type::clock::now() - longest;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    const auto time = entry->last_write_time(ignored);
    if (!ignored && time < oldest) fs::remove(entry->path(), ignored);
  }
}

/// A failure as stored in its file.
struct FailureFile {
  std::int64_t time = 0;  ///< seconds since 1970
  std::string message;
  std::string hint;
};

/// nullopt: there is none, or it is incomplete.
std::optional<FailureFile> read_failure(const std::string& path) {
  const auto file = open_own_file(path);
  if (!file) return std::nullopt;
  std::string text(largest_failure_file, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file->get()));
  const auto tree = documents::parse_json_tree(text, path);
  if (!tree) return std::nullopt;
  documents::JsonReading reading(path, {});
  documents::JsonObject object(*tree, reading);
  for (const char* key : {"time", "message", "hint"}) object.require(key);
  const auto time = object.number("time", std::numeric_limits<std::int64_t>::max());
  FailureFile failure{static_cast<std::int64_t>(time.value_or(0)),
                      object.text("message", documents::any_text),
                      object.text("hint", documents::any_text)};
  object.finish();
  if (reading.error()) return std::nullopt;
  return failure;
}

}  // namespace

std::string render_span(std::chrono::seconds span) {
  const bool minutes = span >= std::chrono::minutes(1);
  const auto count = minutes ? span.count() / 60 : span.count();
  return fmt::format("{} {}{}", count, minutes ? "minute" : "second", count == 1 ? "" : "s");
}

PluginFailures::PluginFailures(const Session& session) {
  if (const std::string cache = session.cache_folder(); !cache.empty())
    folder_ = cache + "/plugin-failures";
}

std::string PluginFailures::path_of(const plugins::Plugin& plugin,
                                    const plugins::AskOptions& options) const {
  return fmt::format("{}/{}-{}.json", folder_, plugin.ns,
                     wheel::render_hex(wheel::sha256(identity_of(plugin, options))));
}

std::optional<RememberedFailure> PluginFailures::find(const plugins::Plugin& plugin,
                                                      const plugins::AskOptions& options) const {
  std::error_code error;
  if (folder_.empty() || !fs::exists(folder_, error)) return std::nullopt;
  const std::string path = path_of(plugin, options);
  auto failure = read_failure(path);
  if (!failure) return std::nullopt;
  const auto ago = std::chrono::seconds(std::time(nullptr)) - std::chrono::seconds(failure->time);
  if (ago < std::chrono::seconds(0) || ago >= longest) {
    fs::remove(path, error);
    return std::nullopt;
  }
  return RememberedFailure{std::move(failure->message), std::move(failure->hint), ago};
}

void PluginFailures::note(const plugins::Plugin& plugin, const plugins::AskOptions& options,
                          const plugins::PluginAnswer& answer) const {
  if (folder_.empty() || answer.features || !costs_time(answer)) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  remove_old(folder_);
  const std::string path = path_of(plugin, options);
  const nlohmann::json text = {{"time", std::time(nullptr)},
                               {"message", answer.features.error().message},
                               {"hint", answer.features.error().hint}};
  // If it is not stored, or incomplete, the plugin is simply run again.
  (void)system::write_whole_file(
      path, text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
      {.flush = system::Flush::no});
}

std::size_t PluginFailures::forget(std::string_view ns) const {
  std::size_t count = 0;
  std::error_code error;
  if (folder_.empty()) return count;
  for (fs::directory_iterator entry(folder_, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    // A namespace contains no "-".
    if (name.substr(0, name.find('-')) == ns && fs::remove(entry->path(), ignored)) ++count;
  }
  return count;
}

}  // namespace axle::session
