// check: whether what is installed is whole, and has what it needs.
#include <algorithm>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "doctor/fixes.h"
#include "doctor/installed_files.h"
#include "installer/environment/record_check.h"
#include "session/inventory.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

using installer::FaultyFile;
using installer::RecordFault;
using nlohmann::ordered_json;

constexpr std::size_t most_lines = 10;  // a package

struct Answer {
  std::string text;
  ordered_json broken = ordered_json::array();
  ordered_json files = ordered_json::array();
};

std::string required_name(const installer::BrokenRequirement& broken) {
  const auto requirement = wheel::parse_requirement(broken.requirement);
  return requirement ? wheel::normalize_name(requirement->name) : broken.requirement;
}

void add_requirements(const std::vector<installer::InstalledDistribution>& distributions,
                      const installer::Environment& environment, Answer& answer) {
  for (const installer::BrokenRequirement& broken :
       installer::check_installed(distributions, environment)) {
    answer.text += broken.found.empty()
                       ? fmt::format("{} requires {}, which is not installed.\n", broken.package,
                                     broken.requirement)
                       : fmt::format("{} has requirement {}, but you have {} {}.\n", broken.package,
                                     broken.requirement, required_name(broken), broken.found);
    answer.broken.push_back(
        {{"package", broken.package},
         {"requirement", broken.requirement},
         {"found", broken.found.empty() ? ordered_json(nullptr) : ordered_json(broken.found)}});
  }
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

void add_faults(const doctor::InstalledPackageFiles& package, const doctor::InstalledFiles& files,
                const std::vector<FaultyFile>& faults, Answer& answer) {
  const doctor::Hint fix = doctor::reinstall({&package}, files);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const FaultyFile& fault = faults[i];
    if (i < most_lines) {
      answer.text += fmt::format("{}: {} {}.\n", package.title, fault.path, fault.fact);
    } else if (i == most_lines) {
      answer.text += fmt::format("{}: {} more files\n", package.title, faults.size() - i);
    }
    answer.files.push_back({{"package", package.title},
                            {"file", fault.path},
                            {"fault", render_fault(fault.fault)},
                            {"fact", fault.fact},
                            {"fix", fix.commands}});
  }
  answer.text += fmt::format("  fix: {}\n", doctor::render_hint(fix));
}

/// Files that nobody can vouch for are a remark; uv writes such lines for files that a wheel forgot
/// to list.
void warn_of_unhashed(const doctor::InstalledPackageFiles& package, std::vector<FaultyFile>& faults,
                      Report& report) {
  std::vector<FaultyFile> unhashed;
  std::erase_if(faults, [&](const FaultyFile& one) {
    if (one.fault != RecordFault::no_hash) return false;
    unhashed.push_back(one);
    return true;
  });
  if (unhashed.empty()) return;
  report.warn(fmt::format("{}: RECORD gives no hash of {}{}: whether that changed cannot be told",
                          package.title, unhashed.front().path,
                          unhashed.size() == 1
                              ? std::string()
                              : fmt::format(" and {} more files", unhashed.size() - 1)));
}

Result<void> add_files(const doctor::InstalledFiles& files, installer::ContentCheck check,
                       Report& report, Answer& answer) {
  const auto roots = installer::find_roots(files.environment);
  if (!roots) return std::unexpected(roots.error());
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
    if (!faults.empty()) add_faults(package, files, faults, answer);
  }
  return {};
}

}  // namespace

int run_check(session::Session& session, Output& output) {
  auto inventory = session::take_inventory(session);
  if (!inventory) return output.failure(inventory.error());
  if (session.elsewhere()) {
    const auto named = session.machine();
    if (!named) return output.failure(named.error());
    session::put_elsewhere(inventory->environment.markers, named->machine);
  }
  Answer answer;
  add_requirements(inventory->distributions, inventory->environment, answer);
  doctor::Findings unsaid;  // of libraries, which are not looked at here
  const doctor::InstalledFiles files = doctor::read_installed_files(
      inventory->environment, inventory->distributions, unsaid, {0, 0});
  const auto check = session.arguments().has(session::Opt::deep)
                         ? installer::ContentCheck::hash
                         : installer::ContentCheck::size_and_time;
  if (auto done = add_files(files, check, output, answer); !done)
    return output.failure(session::failed(done.error()).error());
  const bool good = answer.text.empty();
  if (good) answer.text = "No broken requirements found.\n";
  return output.answer(answer.text, {{"broken", answer.broken}, {"files", answer.files}},
                       good ? 0 : session::exit_failed);
}

}  // namespace axle::cli
