#include "installer/environment/installed.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "foundation/text/ascii.h"
#include "index/family/alternatives.h"
#include "installer/environment/installed_scan.h"
#include "installer/environment/metadata_files.h"
#include "installer/environment/roots.h"
#include "installer/environment/site_snapshot.h"
#include "installer/file_access.h"
#include "installer/lock.h"
#include "installer/path_states.h"
#include "installer/transaction/recovery.h"
#include "installer/transaction/repair.h"
#include "wheel/requirement.h"
#include "wheel/variant/variant_markers.h"
#include "wheel/wheel_name.h"

namespace axle::installer {
namespace {

std::string first_line(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  return std::string(text);
}

/// What was stored for a build of an index family, whose wheel does not contain its label.
void take_family_label(const std::string& text, InstalledDistribution& distribution) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("label") || !document["label"].is_string())
    return;
  auto label = document["label"].get<std::string>();
  if (!wheel::is_valid_label(label)) return;
  const auto family = document.find("family");
  const bool named = family != document.end() && family->is_string() &&
                     wheel::is_valid_name(family->get<std::string>());
  if (!named) return;
  distribution.variant = std::move(label);
  distribution.family = family->get<std::string>();
}

void take_variant(const std::string& text, InstalledDistribution& distribution, Report& report) {
  const std::string path = distribution.dist_info + "/variant.json";
  auto metadata = wheel::parse_variant_metadata(text, path, report);
  if (!metadata || metadata->variants.size() != 1) {
    report.warn(fmt::format("{} does not say which variant is installed", path), {}, path);
    return;
  }
  distribution.variant = metadata->variants.begin()->first;
  distribution.variant_properties = std::move(metadata->variants.begin()->second);
  distribution.abi_needs = wheel::abi_needs(*metadata, distribution.variant_properties);
}

Result<InstalledDistribution> interpret(const std::string& folder, const MetadataFiles& files,
                                        Report& report) {
  const auto path = find_metadata(folder);
  if (!path) return std::unexpected(path.error());
  auto metadata = wheel::parse_core_metadata(files.metadata, *path);
  if (!metadata) return std::unexpected(std::move(metadata.error()));
  InstalledDistribution distribution;
  distribution.dist_info = folder;
  distribution.metadata = std::move(*metadata);
  distribution.name = wheel::normalize_name(distribution.metadata.name);
  if (files.variant && !files.variant->empty()) {
    take_variant(*files.variant, distribution, report);
  } else if (files.family) {
    take_family_label(*files.family, distribution);
  }
  distribution.installer = first_line(files.installer.value_or(""));
  distribution.direct_url = files.direct_url.value_or("");
  distribution.requested = files.requested;
  distribution.has_record = files.has_record;
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

/// nullopt: they cannot be looked at.
std::optional<PathStates> states_of(const std::string& folder, const MetadataFiles& files) {
  const auto paths = metadata_paths(folder, files);
  if (!paths) return std::nullopt;
  PathStates states;
  if (!std::ranges::all_of(*paths,
                           [&](const std::string& path) { return states.add_linked(path); }))
    return std::nullopt;
  return states;
}

/// Reads what is in one folder of metadata, beside others that do the same.
class Reading {
 public:
  Reading(const std::string& folder, const SiteSnapshot& snapshot, Requirements requirements)
      : folder_(folder), requirements_(requirements) {
    const auto found = snapshot.find(name());
    if (found != snapshot.end()) kept_ = &found->second;
  }

  /// If `keeps`, with what the snapshot has of it, and of METADATA no more than that.
  void read(bool keeps) {
    CollectedReport report;
    distribution_ = name().starts_with('~')
                        ? fail(ErrorKind::malformed, "left over from an interrupted pip")
                        : read_distribution(keeps, report);
    remarks_ = std::move(report.remarks);
  }

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string_view name() const {
    return std::string_view(folder_).substr(folder_.rfind('/') + 1);
  }
  [[nodiscard]] Result<InstalledDistribution>& distribution() { return distribution_; }
  [[nodiscard]] std::vector<Remark>& remarks() { return remarks_; }
  /// What the snapshot has, or should have, of it; nullptr: nothing.
  [[nodiscard]] const KeptMetadata* kept() const { return read_anew_ ? &*read_anew_ : kept_; }
  [[nodiscard]] bool is_news() const { return read_anew_.has_value(); }

 private:
  Result<InstalledDistribution> interpret_kept(Report& report) const {
    if (requirements_ == Requirements::read) return interpret(folder_, kept_->files, report);
    MetadataFiles files = kept_->files;
    files.metadata = wheel::without_requirements(files.metadata);
    return interpret(folder_, files, report);
  }

  Result<InstalledDistribution> read_distribution(bool keeps, Report& report) {
    if (kept_ != nullptr) {
      const auto states = states_of(folder_, kept_->files);
      if (states && states->text == kept_->states) return interpret_kept(report);
      kept_ = nullptr;
    }
    const std::int64_t began = nanoseconds_now();
    auto files = read_metadata_files(folder_);
    if (!files) return std::unexpected(std::move(files.error()));
    auto distribution = interpret(folder_, *files, report);
    if (!distribution || !keeps) return distribution;
    auto essential = wheel::essential_metadata(distribution->metadata);
    // The same whether it is read or kept.
    distribution->metadata.fields.clear();
    distribution->metadata.description.clear();
    auto states = states_of(folder_, *files);
    if (!essential || !states || !states->settled_at(began)) return distribution;
    files->metadata = std::move(*essential);
    read_anew_ = KeptMetadata{std::move(states->text), std::move(*files)};
    return distribution;
  }

  const std::string& folder_;
  Requirements requirements_;
  const KeptMetadata* kept_ = nullptr;
  std::optional<KeptMetadata> read_anew_;
  Result<InstalledDistribution> distribution_ = InstalledDistribution();
  std::vector<Remark> remarks_;
};

/// Writes a snapshot of what was read if the one in the cache says anything else.
void keep(const std::vector<Reading>& readings, std::size_t known, const std::string& cache_folder,
          const std::string& site) {
  SiteSnapshot snapshot;
  bool has_news = false;
  for (const Reading& reading : readings) {
    if (reading.kept() == nullptr) continue;
    snapshot.emplace(reading.name(), *reading.kept());
    has_news = has_news || reading.is_news();
  }
  if (has_news || snapshot.size() != known) write_site_snapshot(cache_folder, site, snapshot);
}

/// The distributions in one folder, which need not exist, in no order. Anything else, and files
/// that this user may not read, are reported and skipped. Error: io.
Result<void> scan_site(const std::string& site, const std::string& cache_folder,
                       Requirements requirements, std::vector<InstalledDistribution>& installed,
                       Report& report) {
  const auto folders = list_metadata(site);
  if (!folders) return std::unexpected(folders.error());
  const bool keeps = !cache_folder.empty() && !folders->empty();
  const SiteSnapshot snapshot = keeps ? read_site_snapshot(cache_folder, site) : SiteSnapshot();
  std::vector<Reading> readings;
  readings.reserve(folders->size());
  for (const std::string& folder : *folders) readings.emplace_back(folder, snapshot, requirements);
  // As many as take longer than a thread does to begin.
  constexpr std::size_t at_a_time = 8;
  system::for_each_at_once((readings.size() + at_a_time - 1) / at_a_time,
                           system::usable_processors(), [&](std::size_t batch) {
                             const std::size_t end =
                                 std::min(readings.size(), (batch + 1) * at_a_time);
                             for (std::size_t i = batch * at_a_time; i < end; ++i)
                               readings[i].read(keeps);
                           });
  if (keeps) keep(readings, snapshot.size(), cache_folder, site);
  for (Reading& reading : readings) {
    for (Remark& remark : reading.remarks()) report.add(std::move(remark));
    auto& distribution = reading.distribution();
    if (distribution) {
      installed.push_back(std::move(*distribution));
    } else if (distribution.error().kind == ErrorKind::io && !lacks_rights(reading.folder())) {
      return std::unexpected(distribution.error());
    } else {
      report.warn(fmt::format("{} is ignored: {}", reading.folder(), distribution.error().message),
                  {}, reading.folder());
    }
  }
  return {};
}

/// Sorted by name, of one name the newest first.
Result<std::vector<InstalledDistribution>> scan_roots(const Roots& roots,
                                                      const std::string& cache_folder,
                                                      Requirements requirements, Report& report) {
  std::vector<InstalledDistribution> installed;
  for (const std::string& site : std::set<std::string>{roots.purelib, roots.platlib}) {
    if (auto done = scan_site(site, cache_folder, requirements, installed, report); !done)
      return std::unexpected(done.error());
  }
  std::ranges::sort(installed, [](const auto& left, const auto& right) {
    if (left.name != right.name) return left.name < right.name;
    return right.metadata.version < left.metadata.version;
  });
  return installed;
}

/// A reader holds the shared lock; only an interrupted command makes it a writer briefly.
Result<std::vector<InstalledDistribution>> scan_locked(const Roots& roots,
                                                       const std::string& cache_folder,
                                                       Requirements requirements, Report& report) {
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
    auto installed = scan_roots(roots, cache_folder, requirements, remarks);
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

Result<std::vector<InstalledDistribution>> scan_installed(const Roots& roots, Report& report,
                                                          const std::string& cache_folder) {
  return scan_roots(roots, cache_folder, Requirements::left_out, report);
}

void add_outer(const Environment& environment, std::vector<InstalledDistribution>& installed,
               Report& report, const std::string& cache_folder, Requirements requirements) {
  for (const std::string& site : environment.outer_sites) {
    std::vector<InstalledDistribution> found;
    if (auto done = scan_site(site, cache_folder, requirements, found, report); !done)
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
                                                          Report& report,
                                                          const std::string& cache_folder,
                                                          Requirements requirements) {
  auto roots = find_roots(environment);
  if (!roots) return std::unexpected(roots.error());
  auto installed = scan_locked(*roots, cache_folder, requirements, report);
  if (installed) add_outer(environment, *installed, report, cache_folder, requirements);
  return installed;
}

Result<std::vector<std::string>> installed_paths(
    const Environment& environment, const std::vector<InstalledDistribution>& installed) {
  const auto roots = find_roots(environment);
  if (!roots) return std::unexpected(roots.error());
  const std::string state = roots->state_folder();
  std::vector<std::string> paths = {environment.python,
                                    environment.prefix + "/bin/python3",
                                    environment.prefix + "/bin/python",
                                    environment.prefix + "/pyvenv.cfg",
                                    roots->purelib,
                                    roots->platlib,
                                    state,
                                    state + "/lock",
                                    state + "/history",
                                    state + "/unflushed"};
  std::ranges::copy(environment.outer_sites, std::back_inserter(paths));
  for (const InstalledDistribution& one : installed) {
    const auto files = read_metadata_files(one.dist_info);
    if (!files) return std::unexpected(files.error());
    auto of_one = metadata_paths(one.dist_info, *files);
    if (!of_one) return of_one;
    std::ranges::move(*of_one, std::back_inserter(paths));
  }
  return paths;
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
