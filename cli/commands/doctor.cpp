// doctor: what is wrong with this machine and with what is installed in an environment, and the
// mend.
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/doctor/environment_checks.h"
#include "cli/doctor/feature_list.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/machine_checks.h"
#include "cli/families.h"
#include "cli/session.h"
#include "cli/workspace.h"
#include "detect/host.h"
#include "index/transport.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t largest_loader_file = 8U << 20;

/// The release that --for-package asks for.
struct AskedPackage {
  const index::Family* family = nullptr;
  const index::FamilyRelease* release = nullptr;
  std::string title;  ///< "torch 2.9", or the requirement as it was written
};

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return parts;
}

/// As ld.so(8) has it; of this machine alone.
LoaderPath read_loader_path() {
  const auto host = detect::make_real_host();
  LoaderPath path;
  path.folders = split(host->environment("LD_LIBRARY_PATH").value_or(""), ":;");
  path.preload = split(host->environment("LD_PRELOAD").value_or(""), ": ");
  for (std::string& file :
       split(host->read_file("/etc/ld.so.preload", largest_loader_file).value_or(""), ": \t\n"))
    path.preload.push_back(std::move(file));
  path.cached =
      parse_loader_cache(host->read_file("/etc/ld.so.cache", largest_loader_file).value_or(""));
  return path;
}

Outcome<std::optional<installer::Environment>> find_asked_environment(Session& session,
                                                                      Findings& findings) {
  auto environment = open_environment(session, false);
  if (environment) return std::move(*environment);
  const bool named = session.arguments().has(Opt::python) || session.arguments().has(Opt::system);
  if (named || environment.error().error.kind != ErrorKind::not_found)
    return std::unexpected(environment.error());
  Finding& finding =
      findings.add("no-environment", "",
                   "no environment was examined: none is active and there is no .venv here");
  finding.mend = "variant doctor --python PATH";
  return std::nullopt;
}

Outcome<std::optional<AskedPackage>> find_asked_package(Session& session,
                                                        index::FamilyBook& families) {
  if (!session.arguments().has(Opt::for_package)) return std::nullopt;
  const std::string text = session.arguments().value(Opt::for_package);
  const auto requirement = wheel::parse_requirement(text);
  if (!requirement)
    return misused(fmt::format("--for-package {}: {}", text, requirement.error().message),
                   "a package, as in --for-package torch==2.9");
  AskedPackage asked;
  asked.title = text;
  auto family = families.of_project(wheel::normalize_name(requirement->name));
  if (!family) return failed(family.error());
  if (*family == nullptr || (*family)->anchor() != wheel::normalize_name(requirement->name))
    return asked;
  asked.family = *family;
  asked.release = meant_release(**family, requirement->specifiers);
  if (asked.release != nullptr)
    asked.title = fmt::format("{} {}", asked.family->anchor(), asked.release->version);
  return asked;
}

/// What the list of packages passed over: a folder that is none of ours and unreadable.
void add_remarks(const CollectedReport& remarks, const installer::Environment& environment,
                 Findings& findings) {
  for (const Remark& remark : remarks.remarks) {
    if (remark.severity != Severity::warning) continue;
    Finding& finding = findings.add("dist-info-broken", environment.prefix,
                                    "a folder that records a package cannot be read");
    finding.evidence.push_back({"", "", remark.message});
    const std::string folder = remark.message.substr(0, remark.message.find(' '));
    const std::string name = folder.substr(folder.rfind('/') + 1);
    finding.mend =
        remark.hint.empty() ? "remove the folder, and install the package again" : remark.hint;
    const std::string package = name.substr(0, name.find('-'));
    if (folder.starts_with('/') && name.ends_with(".dist-info") && wheel::is_valid_name(package)) {
      finding.mend = fmt::format("rm -r {} && variant install {}{}", shell_word(folder), package,
                                 python_option(environment));
    }
  }
}

Outcome<ordered_json> examine(Session& session, installer::Environment environment,
                              const detect::Machine& machine, index::FamilyBook& families,
                              Findings& findings) {
  CollectedReport remarks;
  auto distributions = installer::list_installed(environment, remarks);
  if (!distributions) return failed(distributions.error());
  add_remarks(remarks, environment, findings);
  const InstalledFiles files =
      read_installed_files(std::move(environment), *distributions, findings);
  check_packages(files, *distributions, findings);
  if (auto done = check_variants(files, machine, families, findings); !done)
    return failed(done.error());
  check_code(files, machine, findings);
  if (session.arguments().has(Opt::deep)) check_instructions(files, machine, findings);
  if (session.elsewhere()) {
    findings.not_looked_at(
        "LD_LIBRARY_PATH and the loader's cache: they are this machine's, not that of --for");
  } else {
    check_shadows(files, read_loader_path(), findings);
  }
  if (!session.arguments().has(Opt::deep) && !files.libraries.empty())
    findings.not_looked_at("the instructions in the libraries (--deep disassembles them)");
  return ordered_json{{"python", files.environment.python},
                      {"prefix", files.environment.prefix},
                      {"packages", files.packages.size()},
                      {"libraries", files.libraries.size()},
                      {"bytes_read", files.bytes_read}};
}

}  // namespace

int run_doctor(Session& session) {
  Output& output = session.output();
  auto named = session.machine();
  if (!named) return output.failure(named.error());
  const auto transport = index::make_transport({});
  auto families = all_families(session.arguments(), *transport, output);
  if (!families) return output.failure(families.error());
  auto asked = find_asked_package(session, **families);
  if (!asked) return output.failure(asked.error());
  auto torch = (*families)->named("torch");
  Findings findings;
  check_machine(named->machine, torch ? *torch : nullptr, findings);
  auto environment = find_asked_environment(session, findings);
  if (!environment) return output.failure(environment.error());
  ordered_json examined = nullptr;
  wheel::MarkerEnvironment markers;
  if (*environment) {
    if (session.elsewhere()) put_elsewhere((*environment)->markers, named->machine);
    markers = (*environment)->markers;
    auto done = examine(session, std::move(**environment), named->machine, **families, findings);
    if (!done) return output.failure(done.error());
    examined = std::move(*done);
  }
  findings.sort();
  ordered_json body = {{"machine", named->name},
                       {"environment", std::move(examined)},
                       {"findings", findings_json(findings)},
                       {"not_looked_at", findings.unseen()}};
  std::string text = render_findings(findings, output);
  if (*asked) {
    std::vector<FeatureAnswer> answers;
    if ((*asked)->release != nullptr)
      answers = list_features(*(*asked)->family, *(*asked)->release, named->machine, markers);
    text += "\n" + render_features(answers, (*asked)->title, output);
    body["package"] = (*asked)->title;
    body["features"] = features_json(answers);
  }
  return output.answer(text, body, findings.has_error() ? exit_failed : 0);
}

}  // namespace axle::cli
