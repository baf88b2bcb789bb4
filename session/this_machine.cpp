#include "session/this_machine.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include "detect/drivers/driver_cache.h"
#include "detect/probe.h"
#include "detect/record/scrub.h"
#include "detect/survey.h"
#include "machines/site_profile.h"
#include "session/variables.h"
#include "session/version.h"

namespace axle::session {

namespace {

detect::ProbeOptions probe_options(Report& report) {
  detect::ProbeOptions options;
  const std::string limit = variable("AXLE_DRIVER_TIMEOUT");
  if (limit.empty()) return options;
  if (const auto time = parse_time_limit(limit, std::chrono::minutes(10))) {
    options.driver_time_limit = *time;
  } else {
    report.warn(
        fmt::format("AXLE_DRIVER_TIMEOUT={} is ignored: it is not a valid duration", limit),
        "write seconds, such as 5 or 0.5, or milliseconds, such as 500ms, up to 600 seconds");
  }
  return options;
}

/// The site's profile, where it is of the machine `here`; a warning where it is not.
std::optional<machines::Profile> find_site_profile(detect::Host& here, Report& report) {
  const std::string named = variable("AXLE_SITE_PROFILE");
  if (named == "none") return std::nullopt;
  const std::string path = named.empty() ? machines::site_profile_path : named;
  const auto owner =
      named.empty() ? machines::SiteOwner::root : machines::SiteOwner::root_or_caller;
  auto profile = machines::read_site_profile(path, owner, here);
  if (!profile) {
    report.warn(profile.error().message, profile.error().hint);
    return std::nullopt;
  }
  if (!*profile && !named.empty()) {
    report.warn(fmt::format("AXLE_SITE_PROFILE={} is ignored: no such file", named),
                "record one with `variant detect --profile machine.json`, or set it to none");
  }
  if (*profile) report.detail(fmt::format("the facts of this machine are taken from {}", path));
  return std::move(*profile);
}

detect::Identity who_is_here() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::string name(host.data());
  name.erase(std::min(name.find('.'), name.size()));
  std::vector<std::string> users;
  // A site's profile is recorded under sudo, and the person is then the third of these.
  for (const char* who : {"USER", "LOGNAME", "SUDO_USER"}) users.push_back(variable(who));
  if (const passwd* own = ::getpwuid(::getuid())) users.emplace_back(own->pw_name);
  return {std::move(name), std::move(users), variable("HOME")};
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_time_limit(std::string_view text,
                                                          std::chrono::milliseconds longest) {
  double factor = 1000;
  if (text.ends_with("ms")) {
    factor = 1;
    text.remove_suffix(2);
  } else if (text.ends_with('s')) {
    text.remove_suffix(1);
  }
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  const auto most = static_cast<double>(longest.count());
  value *= factor;
  if (std::isnan(value) || value < 1 || value > most) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(value));
}

detect::Machine probe_this_machine(const std::string& cache_folder,
                                   std::vector<detect::GpuVendor> stated, Report& report) {
  detect::ProbeOptions options = probe_options(report);
  options.stated = std::move(stated);
  const auto host = detect::make_real_host();
  if (const auto site = find_site_profile(*host, report)) {
    machines::SiteHost recorded(*site->recording, *host);
    return detect::probe_machine(recorded, options);
  }
  detect::DriverCache cached(*host, {.folder = cache_folder.empty() ? "" : cache_folder + "/detect",
                                     .program = std::string(version),
                                     .now = std::time(nullptr)});
  return detect::probe_machine(cached, options);
}

machines::NamedMachine record_this_machine(bool again, Report& report) {
  const detect::ProbeOptions options = probe_options(report);
  const auto host = detect::make_real_host();
  machines::NamedMachine named{"this machine", {}};
  if (auto site = again ? std::nullopt : find_site_profile(*host, report)) {
    machines::SiteHost recorded(*site->recording, *host);
    named.machine = detect::probe_machine(recorded, options);
    named.recording = std::move(site->recording);
    named.origin = std::move(site->origin);
    return named;
  }
  detect::RecordingHost recorder(*host);
  named.machine = detect::probe_machine(recorder, options);
  (void)machines::read_traits(recorder);
  detect::survey_machine(recorder);
  named.recording = detect::scrub(recorder.recording(), who_is_here());
  return named;
}

}  // namespace axle::session
