#include "installer/environment/installed.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "foundation/text/ascii.h"
#include "index/family/alternatives.h"
#include "installer/environment/installed_scan.h"
#include "installer/environment/roots.h"
#include "installer/file_access.h"
#include "installer/lock.h"
#include "installer/transaction/recovery.h"
#include "installer/transaction/repair.h"
#include "wheel/requirement.h"
#include "wheel/variant/variant_markers.h"
#include "wheel/wheel_name.h"

namespace axle::installer {
namespace {

constexpr std::uint64_t metadata_limit = 64U << 20;
constexpr std::uint64_t small_limit = 1U << 20;

std::string trim_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

/// Empty if it is missing or not a text file. Error: io.
Result<std::string> read_optional(const std::string& path, std::uint64_t limit) {
  auto text = read_if_there(path, limit);
  if (text) return std::move(*text).value_or(std::string());
  if (text.error().kind == ErrorKind::io) return std::unexpected(std::move(text.error()));
  return std::string();
}

/// What was stored for a build of an index family, whose wheel does not contain its label.
Result<void> read_family_label(InstalledDistribution& distribution) {
  const auto text = read_optional(distribution.dist_info + "/axle-family.json", small_limit);
  if (!text) return std::unexpected(text.error());
  const auto document = nlohmann::json::parse(*text, nullptr, false);
  if (!document.is_object() || !document.contains("label") || !document["label"].is_string())
    return {};
  auto label = document["label"].get<std::string>();
  if (!wheel::is_valid_label(label)) return {};
  const auto family = document.find("family");
  const bool named = family != document.end() && family->is_string() &&
                     wheel::is_valid_name(family->get<std::string>());
  if (!named) return {};
  distribution.variant = std::move(label);
  distribution.family = family->get<std::string>();
  return {};
}

Result<void> read_variant(InstalledDistribution& distribution, Report& report) {
  const std::string path = distribution.dist_info + "/variant.json";
  const auto text = read_optional(path, small_limit * 16);
  if (!text) return std::unexpected(text.error());
  if (text->empty()) return read_family_label(distribution);
  auto metadata = wheel::parse_variant_metadata(*text, path, report);
  if (!metadata || metadata->variants.size() != 1) {
    report.warn(fmt::format("{} does not say which variant is installed", path), {}, path);
    return {};
  }
  distribution.variant = metadata->variants.begin()->first;
  distribution.variant_properties = std::move(metadata->variants.begin()->second);
  distribution.abi_needs = wheel::abi_needs(*metadata, distribution.variant_properties);
  return {};
}

/// What installers store next to the metadata.
Result<void> read_notes(InstalledDistribution& distribution) {
  const std::string& folder = distribution.dist_info;
  auto installer = read_optional(folder + "/INSTALLER", small_limit);
  if (!installer) return std::unexpected(installer.error());
  distribution.installer = trim_line(std::move(*installer));
  auto direct_url = read_optional(folder + "/direct_url.json", small_limit);
  if (!direct_url) return std::unexpected(direct_url.error());
  distribution.direct_url = std::move(*direct_url);
  const auto requested = look_at(folder + "/REQUESTED", Links::followed);
  if (!requested) return std::unexpected(requested.error());
  distribution.requested = requested->has_value();
  const auto record = look_at(folder + "/RECORD", Links::followed);
  if (!record) return std::unexpected(record.error());
  distribution.has_record = *record && S_ISREG((*record)->st_mode);
  return {};
}

Result<InstalledDistribution> read_distribution(const std::string& folder, Report& report) {
  InstalledDistribution distribution;
  distribution.dist_info = folder;
  const bool egg = text::ascii_lower(folder).ends_with(".egg-info");
  std::string path = folder + (egg ? "/PKG-INFO" : "/METADATA");
  if (egg) {
    const auto there = look_at(folder, Links::followed);
    if (!there) return std::unexpected(there.error());
    if (*there && S_ISREG((*there)->st_mode)) path = folder;
  }
  auto text = read_headers(path, metadata_limit);
  if (!text) return std::unexpected(text.error());
  auto metadata = wheel::parse_core_metadata(*text, path);
  if (!metadata) return std::unexpected(metadata.error());
  distribution.metadata = std::move(*metadata);
  distribution.name = wheel::normalize_name(distribution.metadata.name);
  if (egg) return distribution;
  if (auto read = read_variant(distribution, report); !read) return std::unexpected(read.error());
  if (auto read = read_notes(distribution); !read) return std::unexpected(read.error());
  return distribution;
}

/// The first of two with the same name, the newer one, counts.
void drop_doubles(std::vector<InstalledDistribution>& installed, Report& report) {
  for (std::size_t i = 1; i < installed.size();) {
    if (installed[i].name != installed[i - 1].name) {
      ++i;
      continue;
    }
    report.warn(fmt::format("{} is installed twice: {} is used, {} is ignored", installed[i].name,
                            installed[i - 1].dist_info, installed[i].dist_info),
                fmt::format("{} removes the other one", repair_command(installed[i - 1])),
                installed[i].dist_info);
    installed.erase(installed.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// Handles what an interrupted command left, seen under the shared lock and therefore abandoned.
/// Only users with write permission clean up. False: it stays because the journal cannot be read,
/// which only blocks changes.
Result<bool> clear_interrupted(const Roots& roots, Interrupted kind, Report& report) {
  auto exclusive = EnvironmentLock::for_change(roots.state_folder(), report);
  if (exclusive) {
    auto done = finish_interrupted(roots.base, report);
    if (done || kind == Interrupted::invisible) return true;
    if (kind == Interrupted::unverified) {
      report.warn(fmt::format("what was installed before this machine was last started could not "
                              "be compared: {}",
                              done.error().message),
                  done.error().hint);
      return true;
    }
    const ErrorKind why = done.error().kind;
    const bool damaged = why == ErrorKind::malformed || why == ErrorKind::unsupported;
    if (damaged) {
      report.warn(fmt::format("the result of an interrupted command may be incomplete: {}",
                              done.error().message),
                  done.error().hint);
      return false;
    }
    exclusive = std::unexpected(done.error());
  }
  if (kind != Interrupted::visible) return true;
  return std::unexpected(
      within("an interrupted installation must be completed first", exclusive.error()));
}

/// Whether a file of the metadata is permanently inaccessible to this user.
bool lacks_rights(const std::string& folder) {
  static constexpr const char* names[] = {"",           "/METADATA",     "/PKG-INFO",
                                          "/RECORD",    "/INSTALLER",    "/direct_url.json",
                                          "/REQUESTED", "/variant.json", "/axle-family.json"};
  return std::ranges::any_of(names, [&](const char* name) {
    return ::faccessat(AT_FDCWD, (folder + name).c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES;
  });
}

/// The folders of metadata in `site`, which need not exist, in no order. Error: io.
Result<std::vector<std::string>> list_metadata(const std::string& site) {
  std::vector<std::string> folders;
  std::error_code error;
  std::filesystem::directory_iterator entry(site, error);
  if (error && says_absent(error.value())) return folders;
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string lower = text::ascii_lower(name);  // as in importlib.metadata
    if (lower.ends_with(".dist-info") || lower.ends_with(".egg-info"))
      folders.push_back(entry->path().string());
  }
  if (error) return std::unexpected(system_error("read", site, error.value()));
  return folders;
}

/// Reads what is in one folder of metadata, beside others that do the same.
struct Reading {
  const std::string& folder;
  Result<InstalledDistribution> distribution = InstalledDistribution();
  std::vector<Remark> remarks;

  void read() {
    CollectedReport report;
    const bool left_over = folder.substr(folder.rfind('/') + 1).starts_with('~');
    distribution = left_over ? fail(ErrorKind::malformed, "left over from an interrupted pip")
                             : read_distribution(folder, report);
    remarks = std::move(report.remarks);
  }
};

/// The distributions in one folder, which need not exist, in no order. Anything else, and files
/// that this user may not read, are reported and skipped. Error: io.
Result<void> scan_site(const std::string& site, std::vector<InstalledDistribution>& installed,
                       Report& report) {
  const auto folders = list_metadata(site);
  if (!folders) return std::unexpected(folders.error());
  std::vector<Reading> readings;
  readings.reserve(folders->size());
  for (const std::string& folder : *folders) readings.emplace_back(folder);
  // As many as take longer than a thread does to begin.
  constexpr std::size_t at_a_time = 8;
  system::for_each_at_once((readings.size() + at_a_time - 1) / at_a_time,
                           system::usable_processors(), [&](std::size_t batch) {
                             const std::size_t end =
                                 std::min(readings.size(), (batch + 1) * at_a_time);
                             for (std::size_t i = batch * at_a_time; i < end; ++i)
                               readings[i].read();
                           });
  for (Reading& reading : readings) {
    for (Remark& remark : reading.remarks) report.add(std::move(remark));
    auto& distribution = reading.distribution;
    if (distribution) {
      installed.push_back(std::move(*distribution));
    } else if (distribution.error().kind == ErrorKind::io && !lacks_rights(reading.folder)) {
      return std::unexpected(distribution.error());
    } else {
      report.warn(fmt::format("{} is ignored: {}", reading.folder, distribution.error().message),
                  {}, reading.folder);
    }
  }
  return {};
}

/// A reader holds the shared lock; only an interrupted command makes it a writer briefly.
Result<std::vector<InstalledDistribution>> scan_locked(const Roots& roots, Report& report) {
  const std::string state = roots.state_folder();
  bool cleared = false;
  bool damaged = false;
  while (true) {
    auto lock = EnvironmentLock::for_reading(state, report);
    if (!lock) return std::unexpected(lock.error());
    // Without a lock too: a power failure may have left the record of a change, and not the lock.
    const auto found = find_interrupted(roots.base);
    if (!found) return std::unexpected(found.error());
    const Interrupted kind = *found;
    if ((kind == Interrupted::visible && !damaged) ||
        (kind != Interrupted::visible && kind != Interrupted::no && !cleared)) {
      lock->reset();
      const auto done = clear_interrupted(roots, kind, report);
      if (!done) return std::unexpected(done.error());
      damaged = !*done;
      cleared = true;
      continue;
    }
    CollectedReport remarks;
    auto installed = scan_installed(roots, remarks);
    if (installed) drop_doubles(*installed, remarks);
    // The first change of this environment may have begun in the meantime.
    const auto begun = exists(state + "/lock");
    if (!begun) return std::unexpected(begun.error());
    if (!*lock && *begun) continue;
    for (Remark& remark : remarks.remarks) report.add(std::move(remark));
    return installed;
  }
}

}  // namespace

Result<std::vector<InstalledDistribution>> scan_installed(const Roots& roots, Report& report) {
  std::vector<InstalledDistribution> installed;
  for (const std::string& site : std::set<std::string>{roots.purelib, roots.platlib}) {
    if (auto done = scan_site(site, installed, report); !done) return std::unexpected(done.error());
  }
  std::ranges::sort(installed, [](const auto& left, const auto& right) {
    if (left.name != right.name) return left.name < right.name;
    return right.metadata.version < left.metadata.version;
  });
  return installed;
}

void add_outer(const Environment& environment, std::vector<InstalledDistribution>& installed,
               Report& report) {
  for (const std::string& site : environment.outer_sites) {
    std::vector<InstalledDistribution> found;
    if (auto done = scan_site(site, found, report); !done)
      report.warn(done.error().message, done.error().hint);
    for (InstalledDistribution& distribution : found) {
      const auto own =
          std::ranges::find(installed, distribution.name, &InstalledDistribution::name);
      if (own != installed.end()) continue;
      distribution.outer = true;
      installed.push_back(std::move(distribution));
    }
  }
  std::ranges::sort(installed, {}, &InstalledDistribution::name);
}

Result<std::vector<InstalledDistribution>> list_installed(const Environment& environment,
                                                          Report& report) {
  auto roots = find_roots(environment);
  if (!roots) return std::unexpected(roots.error());
  auto installed = scan_locked(*roots, report);
  if (installed) add_outer(environment, *installed, report);
  return installed;
}

wheel::MarkerEnvironment markers_of(const InstalledDistribution& distribution,
                                    const Environment& environment) {
  wheel::MarkerEnvironment markers = wheel::variant_markers(
      environment.markers, distribution.family.empty() ? distribution.variant.value_or("") : "",
      distribution.variant_properties);
  markers.strings["extra"] = "";
  return markers;
}

namespace {

/// Another distribution that installs the same modules is there, in a version that will do.
bool is_stood_in_for(const wheel::Requirement& requirement,
                     const std::vector<InstalledDistribution>& installed) {
  const index::Alternatives* group =
      index::alternatives_of(wheel::normalize_name(requirement.name));
  if (group == nullptr) return false;
  const std::vector<std::string> projects = group->projects();
  return std::ranges::any_of(installed, [&](const InstalledDistribution& other) {
    return std::ranges::find(projects, other.name) != projects.end() &&
           (!group->same_versions || requirement.specifiers.contains(other.metadata.version));
  });
}

}  // namespace

std::vector<BrokenRequirement> check_installed(const std::vector<InstalledDistribution>& installed,
                                               const Environment& environment) {
  std::vector<BrokenRequirement> broken;
  for (const InstalledDistribution& distribution : installed) {
    const wheel::MarkerEnvironment markers = markers_of(distribution, environment);
    for (const wheel::Requirement& requirement : distribution.metadata.requires_dist) {
      if (requirement.marker && !requirement.marker->evaluate(markers)) continue;
      const auto found = std::ranges::find(installed, wheel::normalize_name(requirement.name),
                                           &InstalledDistribution::name);
      if (found != installed.end() && requirement.specifiers.contains(found->metadata.version))
        continue;
      if (found == installed.end() && is_stood_in_for(requirement, installed)) continue;
      broken.push_back({fmt::format("{} {}", distribution.name,
                                    wheel::render_version(distribution.metadata.version)),
                        wheel::render_requirement(requirement),
                        found == installed.end() ? std::string()
                                                 : wheel::render_version(found->metadata.version)});
    }
  }
  return broken;
}

}  // namespace axle::installer
