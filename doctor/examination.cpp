#include "doctor/examination.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "detect/drivers/library_search.h"
#include "detect/drivers/loader_cache.h"
#include "detect/host.h"
#include "doctor/environment_checks.h"
#include "doctor/machine_checks.h"
#include "doctor/start/start_checks.h"
#include "foundation/system/shell_command.h"
#include "index/http/transport.h"
#include "session/families.h"
#include "session/plugins/provider_settings.h"
#include "session/variables.h"
#include "session/workspace.h"
#include "wheel/requirement.h"

namespace axle::doctor {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_preload_file = 64U << 10;

/// A new environment in place of something that is not one. Other folders are never overwritten,
/// and one with packages only with a message.
Hint create_again(const std::string& where) {
  std::error_code error;
  fs::path folder = where;
  const bool interpreter = !fs::is_directory(folder, error) && folder.has_filename() &&
                           folder.parent_path().filename() == "bin";
  if (interpreter) folder = folder.parent_path().parent_path();
  const auto venv = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"variant", "venv"});
    options.push_back(folder.string());
    return std::vector<std::string>{shell_command(options)};
  };
  if (fs::exists(folder / "pyvenv.cfg", error))
    return {"create it again, without its packages", venv({"--clear"})};
  const bool absent = fs::symlink_status(folder, error).type() == fs::file_type::not_found;
  const bool path = where.find('/') != std::string::npos;
  if (path && (absent || fs::is_empty(folder, error)) && !interpreter) return {"", venv({})};
  return {"name an environment or an interpreter that works with --python"};
}

void say_broken_environment(const std::string& where, const Error& error, Findings& findings) {
  Finding& finding =
      findings.add("environment-broken", where, "the environment cannot be examined");
  finding.evidence.push_back({"", "", error.message});
  finding.hint = create_again(where);
}

/// The environment that was given or found; empty: none.
std::string asked_place(const session::Arguments& arguments) {
  if (arguments.has(session::Opt::python)) return arguments.value(session::Opt::python);
  if (arguments.has(session::Opt::system)) return "python3";
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (std::string place = session::variable(name); !place.empty()) return place;
  }
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !folder.empty(); folder = folder.parent_path()) {
    if (fs::symlink_status(folder / ".venv", error).type() != fs::file_type::not_found)
      return (folder / ".venv").string();
    if (folder == folder.root_path()) break;
  }
  return {};
}

/// The release for --for-package.
struct AskedPackage {
  const index::Family* family = nullptr;
  const index::FamilyRelease* release = nullptr;
  std::string label;  ///< of the build that is named ("==2.9.1+cu128"); empty: any
  std::string title;
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

/// As in ld.so(8); only for this machine.
LoaderPath read_loader_path() {
  const auto host = detect::make_real_host();
  LoaderPath path;
  const std::string folders = host->environment("LD_LIBRARY_PATH").value_or("");
  for (const std::string_view folder : detect::split_library_path(folders))
    path.folders.emplace_back(folder);
  path.preload = split(host->environment("LD_PRELOAD").value_or(""), ": ");
  path.system_preload =
      split(host->read_file("/etc/ld.so.preload", largest_preload_file).value_or(""), ": \t\n");
  path.cached = detect::paths_in_loader_cache(
      host->read_file(std::string(detect::loader_cache_file), detect::largest_loader_cache)
          .value_or(""));
  return path;
}

struct AskedEnvironment {
  installer::Environment environment;
  StartedSearch search;  ///< of its interpreter, if it was started as a user starts it here
};

/// A broken environment is what doctor is run for, so it is a finding, and so is a missing one.
std::optional<AskedEnvironment> find_asked_environment(session::Session& session,
                                                       Findings& findings) {
  // Its answer may be cached from when it still started.
  const auto python = session::find_own_interpreter(session);
  StartVerdict start;
  if (python) start = check_start(*python, !session.elsewhere(), findings);
  auto environment = session::open_environment(session, false);
  if (environment && !start.unexplained)
    return AskedEnvironment{std::move(*environment), std::move(start.search)};
  if (!environment && python && session.elsewhere() && !start.explained)
    start = check_start(*python, true, findings);
  if (start.explained) return std::nullopt;
  const Error& error = environment ? *start.unexplained : environment.error().error;
  const bool named = session.arguments().has(session::Opt::python) ||
                     session.arguments().has(session::Opt::system);
  if (named || error.kind != ErrorKind::not_found) {
    say_broken_environment(asked_place(session.arguments()), error, findings);
  } else {
    findings
        .add("no-environment", "",
             "no environment was examined: none is active and there is no .venv here")
        .hint = Hint("choose one with --python, or create one here", {"variant venv"});
  }
  return std::nullopt;
}

session::Outcome<std::optional<AskedPackage>> find_asked_package(session::Session& session,
                                                                 index::FamilyBook& families) {
  if (!session.arguments().has(session::Opt::for_package)) return std::nullopt;
  const std::string text = session.arguments().value(session::Opt::for_package);
  const auto requirement = wheel::parse_requirement(text);
  if (!requirement)
    return session::misused(fmt::format("--for-package {}: {}", text, requirement.error().message),
                            "a package, as in --for-package torch==2.9");
  AskedPackage asked;
  asked.title = text;
  auto family = families.of_project(wheel::normalize_name(requirement->name));
  if (!family) return session::failed(family.error());
  if (*family == nullptr || (*family)->anchor() != wheel::normalize_name(requirement->name))
    return asked;
  asked.family = *family;
  asked.release = meant_release(**family, requirement->specifiers);
  if (asked.release != nullptr) {
    if (const auto exact = exact_version(requirement->specifiers))
      asked.label = index::local_label(*exact);
    asked.title = fmt::format("{} {}{}{}", asked.family->anchor(), asked.release->version,
                              asked.label.empty() ? "" : "+", asked.label);
  }
  return asked;
}

/// The packages with their families: what the checks go through.
session::Outcome<InstalledFiles> read_packages(
    installer::Environment environment,
    const std::vector<installer::InstalledDistribution>& distributions,
    const CollectedReport& remarks, index::FamilyBook& families, Findings& findings) {
  auto damaged = installer::find_damaged_folders(environment);
  if (!damaged) return session::failed(damaged.error());
  InstalledFiles files = read_installed_files(std::move(environment), distributions, findings);
  files.damaged_folders = std::move(*damaged);
  check_listing(remarks.remarks, files, findings);
  for (InstalledPackageFiles& package : files.packages) {
    auto family = families.of_project(package.distribution.name);
    if (!family) return session::failed(family.error());
    if (*family != nullptr && (*family)->has_member(package.distribution.name))
      package.family = *family;
  }
  return files;
}

session::Outcome<std::optional<ExaminedEnvironment>> examine_environment(
    const session::Session& session, AskedEnvironment asked, const JudgedMachine& judged,
    index::FamilyBook& families, Findings& findings) {
  CollectedReport remarks;
  installer::Environment& environment = asked.environment;
  auto distributions = installer::list_installed(environment, remarks);
  if (!distributions) {
    say_broken_environment(environment.prefix, distributions.error(), findings);
    return std::nullopt;
  }
  auto files = read_packages(std::move(environment), *distributions, remarks, families, findings);
  if (!files) return std::unexpected(files.error());
  if (auto done = check_variants(*files, judged, families, findings); !done)
    return session::failed(done.error());
  files->elsewhere = session.elsewhere();
  check_wheel_fit(*files, findings);
  check_conda(*files, findings);
  const bool deep = session.arguments().has(session::Opt::deep);
  check_packages(*files, *distributions,
                 deep ? installer::ContentCheck::hash : installer::ContentCheck::size_and_time,
                 findings);
  check_code(*files, judged, findings);
  const auto host = session.elsewhere() ? nullptr : detect::make_real_host();
  check_links(*files, judged, host.get(), findings);
  check_backends(*files, judged, findings);
  if (deep) check_instructions(*files, judged, findings);
  check_twice(*files, findings);
  if (session.elsewhere()) {
    findings.not_looked_at(
        "LD_LIBRARY_PATH, the loader's cache, PYTHONPATH, the user site and the current folder: "
        "they belong to this machine, not to that of --for");
  } else {
    check_shadows(*files, read_loader_path(), findings);
    check_hidden_modules(*files, asked.search, findings);
  }
  if (!deep && !files->libraries.empty())
    findings.not_looked_at("the instructions in the libraries (--deep disassembles them)");
  return ExaminedEnvironment{files->environment.python, files->environment.prefix,
                             files->packages.size(), files->libraries.size(), files->bytes_read};
}

session::Outcome<JudgedMachine> judge_machine(const session::Session& session,
                                              const machines::NamedMachine& named) {
  const auto gpus = session.gpu_policy();
  if (!gpus) return std::unexpected(gpus.error());
  const auto settings = session::read_provider_settings();
  if (!settings) return std::unexpected(settings.error());
  auto policy = session::provider_policy(*settings, session.arguments());
  if (!policy) return std::unexpected(policy.error());
  return JudgedMachine{named.machine, *gpus, std::move(*policy)};
}

}  // namespace

session::Outcome<Examination> examine(session::Session& session) {
  auto named = session.machine();
  if (!named) return std::unexpected(named.error());
  const auto judged = judge_machine(session, *named);
  if (!judged) return std::unexpected(judged.error());
  const auto transport = index::make_transport({});
  auto families = session::all_families(session.arguments(), *transport, session.report());
  if (!families) return std::unexpected(families.error());
  auto asked = find_asked_package(session, **families);
  if (!asked) return std::unexpected(asked.error());
  auto torch = (*families)->named("torch");
  Examination examination;
  examination.machine = named->name;
  Findings& findings = examination.findings;
  check_machine(*judged, torch ? *torch : nullptr, findings);
  wheel::MarkerEnvironment markers;
  if (auto place = find_asked_environment(session, findings)) {
    installer::Environment& environment = place->environment;
    if (session.elsewhere()) {
      session::put_elsewhere(environment.markers, named->machine);
      environment.tag_target =
          session::tags_elsewhere(std::move(environment.tag_target), named->machine);
    }
    markers = environment.markers;
    auto examined = examine_environment(session, std::move(*place), *judged, **families, findings);
    if (!examined) return std::unexpected(examined.error());
    examination.environment = std::move(*examined);
  }
  if (*asked) {
    examination.package = {(*asked)->title};
    if ((*asked)->release != nullptr) {
      examination.package->features =
          list_features(*(*asked)->family, *(*asked)->release, *judged, markers, (*asked)->label);
    }
  }
  findings.sort();
  return examination;
}

}  // namespace axle::doctor
