// check: whether installed packages are complete, and their requirements met; with
// --vulnerabilities also whether advisories are about them.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/views/vulnerabilities_view.h"
#include "doctor/fixes.h"
#include "doctor/installed_files.h"
#include "installer/environment/overwritten.h"
#include "installer/environment/record_check.h"
#include "session/inventory.h"
#include "session/session.h"
#include "session/vulnerabilities/advisory_source.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

using installer::FaultyFile;
using installer::RecordFault;
using nlohmann::ordered_json;

constexpr std::size_t most_lines = 10;  // a package

/// The files that differ from its RECORD, and the fix.
struct FaultyPackage {
  std::string title;
  std::vector<FaultyFile> faults;
  doctor::Hint fix;
};

std::string required_name(const installer::BrokenRequirement& broken) {
  const auto requirement = wheel::parse_requirement(broken.requirement);
  return requirement ? wheel::normalize_name(requirement->name) : broken.requirement;
}

std::string render(const installer::BrokenRequirement& broken) {
  if (broken.found.empty()) {
    return fmt::format("{} requires {}, which is not installed.\n", broken.package,
                       broken.requirement);
  }
  return fmt::format("{} has requirement {}, but you have {} {}.\n", broken.package,
                     broken.requirement, required_name(broken), broken.found);
}

ordered_json broken_json(const std::vector<installer::BrokenRequirement>& all) {
  ordered_json rows = ordered_json::array();
  for (const installer::BrokenRequirement& broken : all) {
    rows.push_back(
        {{"package", broken.package},
         {"requirement", broken.requirement},
         {"found", broken.found.empty() ? ordered_json(nullptr) : ordered_json(broken.found)}});
  }
  return rows;
}

std::string_view render_fault(RecordFault fault) {
  switch (fault) {
    case RecordFault::missing:
      return "missing";
    case RecordFault::cut_off:
      return "cut-off";
    case RecordFault::changed:
      return "changed";
    case RecordFault::outside:
      return "outside";
    case RecordFault::no_hash:
      return "no-hash";
    case RecordFault::metadata:
      break;
  }
  return "metadata";
}

std::string render(const FaultyPackage& package) {
  std::string text;
  const std::size_t shown = std::min(package.faults.size(), most_lines);
  for (const FaultyFile& fault : std::span(package.faults).first(shown))
    text += fmt::format("{}: {} {}.\n", package.title, fault.path, fault.fact);
  if (shown < package.faults.size())
    text += fmt::format("{}: and {} more\n", package.title, package.faults.size() - shown);
  return text + fmt::format("  fix: {}\n", doctor::render_hint(package.fix));
}

ordered_json faults_json(const std::vector<FaultyPackage>& packages) {
  ordered_json rows = ordered_json::array();
  for (const FaultyPackage& package : packages) {
    for (const FaultyFile& fault : package.faults) {
      rows.push_back({{"package", package.title},
                      {"file", fault.path},
                      {"fault", render_fault(fault.fault)},
                      {"fact", fault.fact},
                      {"fix", package.fix.commands}});
    }
  }
  return rows;
}

/// Files without a hash are only a warning; uv writes such lines for files that a wheel forgot to
/// list.
void warn_of_unhashed(const doctor::InstalledPackageFiles& package, std::vector<FaultyFile>& faults,
                      Report& report) {
  std::vector<FaultyFile> unhashed;
  std::erase_if(faults, [&](const FaultyFile& one) {
    if (one.fault != RecordFault::no_hash) return false;
    unhashed.push_back(one);
    return true;
  });
  if (unhashed.empty()) return;
  report.warn(fmt::format(
      "{}: RECORD has no hash for {}{}: changes cannot be detected", package.title,
      unhashed.front().path,
      unhashed.size() == 1 ? std::string() : fmt::format(" and {} more", unhashed.size() - 1)));
}

Result<std::vector<FaultyPackage>> find_faults(const doctor::InstalledFiles& files,
                                               installer::ContentCheck check, Report& report) {
  const auto roots = installer::find_roots(files.environment);
  if (!roots) return std::unexpected(roots.error());
  std::vector<FaultyPackage> faulty;
  installer::PathResolver resolver(*roots);
  for (const doctor::InstalledPackageFiles& package : files.packages) {
    const std::string& dist_info = package.distribution.dist_info;
    if (!dist_info.ends_with(".dist-info")) continue;
    std::vector<FaultyFile> faults =
        installer::compare_with_record(package.distribution, package.record, resolver, check);
    if (package.record_error) {
      faults.push_back({dist_info.substr(dist_info.rfind('/') + 1) + "/RECORD",
                        RecordFault::missing, package.record_error->message});
    }
    warn_of_unhashed(package, faults, report);
    if (!faults.empty())
      faulty.push_back({package.title, std::move(faults), doctor::reinstall({&package}, files)});
  }
  return faulty;
}

/// The installed packages that the advisories of --vulnerabilities are about.
Result<std::vector<VulnerablePackage>> find_vulnerable(session::Session& session,
                                                       const session::Inventory& inventory,
                                                       const doctor::InstalledFiles& files) {
  std::set<std::string, std::less<>> names;
  for (const auto& one : inventory.distributions) names.insert(one.name);
  const auto advisories =
      session::read_advisories(session.arguments().value(session::Opt::vulnerabilities), names,
                               session::remote_files(session, true));
  if (!advisories) return std::unexpected(advisories.error());
  std::vector<VulnerablePackage> vulnerable;
  for (const installer::InstalledDistribution& one : inventory.distributions) {
    const wheel::Version& version = one.metadata.version;
    auto found = wheel::find_vulnerabilities(*advisories, one.name, version);
    if (found.empty()) continue;
    VulnerablePackage package{one.name, wheel::render_version(version), std::move(found), {}};
    if (const auto fixed =
            wheel::first_sound_version(*advisories, one.name, package.vulnerabilities))
      package.fix = doctor::upgrade_command(one.name, *fixed, files);
    vulnerable.push_back(std::move(package));
  }
  return vulnerable;
}

/// Files that are those of another package, as RECORD says too.
ordered_json overwritten_rows(const doctor::InstalledFiles& files, Report& report) {
  ordered_json rows = ordered_json::array();
  for (const doctor::InstalledPackageFiles& package : files.packages) {
    const auto overwritten = installer::read_overwritten(package.distribution.dist_info);
    if (!overwritten) {
      report.warn(overwritten.error().message);
      continue;
    }
    std::map<std::string, std::size_t> counts;  // by owner
    for (const auto& [path, owner] : *overwritten) {
      rows.push_back({{"package", package.title}, {"file", path}, {"by", owner}});
      ++counts[owner];
    }
    for (const auto& [owner, count] : counts) {
      report.note(fmt::format("{}: {} of its files {} overwritten by {}, as --overwrite allowed",
                              package.title, count, count == 1 ? "is" : "are", owner));
    }
  }
  return rows;
}

}  // namespace

int run_check(session::Session& session, Output& output) {
  auto inventory = session::take_inventory(session, session::MetadataDepth::essential);
  if (!inventory) return output.failure(inventory.error());
  if (session.elsewhere()) {
    const auto named = session.machine();
    if (!named) return output.failure(named.error());
    session::put_elsewhere(inventory->environment.markers, named->machine);
  }
  const std::vector<installer::BrokenRequirement> broken =
      installer::check_installed(inventory->distributions, inventory->environment);
  doctor::Findings unsaid;  // of libraries, which are not examined here
  const doctor::InstalledFiles files = doctor::read_installed_files(
      inventory->environment, inventory->distributions, unsaid, {0, 0});
  const auto check = session.arguments().has(session::Opt::deep)
                         ? installer::ContentCheck::hash
                         : installer::ContentCheck::size_and_time;
  const auto faulty = find_faults(files, check, output);
  if (!faulty) return output.failure(session::failed(faulty.error()).error());
  const bool asks_for_advisories = session.arguments().has(session::Opt::vulnerabilities);
  std::vector<VulnerablePackage> vulnerable;
  if (asks_for_advisories) {
    auto found = find_vulnerable(session, *inventory, files);
    if (!found) return output.failure(session::failed(found.error()).error());
    vulnerable = std::move(*found);
  }
  const bool good = broken.empty() && faulty->empty() && vulnerable.empty();
  const ordered_json overwritten = overwritten_rows(files, output);
  const Answer answer{.text =
                          [&] {
                            std::string text = good ? "No broken requirements found.\n" : "";
                            if (good && asks_for_advisories)
                              text += "No known vulnerabilities found.\n";
                            for (const auto& one : broken) text += render(one);
                            for (const FaultyPackage& one : *faulty) text += render(one);
                            return text + render_vulnerabilities(vulnerable);
                          },
                      .json = [&]() -> ordered_json {
                        ordered_json all = {{"broken", broken_json(broken)},
                                            {"files", faults_json(*faulty)},
                                            {"overwritten", overwritten}};
                        if (asks_for_advisories)
                          all["vulnerabilities"] = vulnerabilities_json(vulnerable);
                        return all;
                      }};
  return output.answer(answer, good ? 0 : session::exit_failed);
}

}  // namespace axle::cli
