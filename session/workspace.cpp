#include "session/workspace.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/core.h>

#include "foundation/system/large_pages.h"
#include "foundation/text/ascii.h"
#include "foundation/text/nearest.h"
#include "foundation/text/rfc3339.h"
#include "index/http/redaction.h"
#include "providers/provider.h"
#include "resolver/solver/solver.h"
#include "session/builds/source_names.h"
#include "session/bundles/opened_bundle.h"
#include "session/cache/cache_lock.h"
#include "session/families.h"
#include "session/index_access.h"
#include "session/other_folders.h"
#include "session/package_sources.h"
#include "session/requests/read_requests.h"
#include "session/requests/requested_sources.h"
#include "session/supported_lists.h"
#include "session/variables.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// For --verbose: the effective configuration.
void describe(const Workspace& workspace, Session& session) {
  Report& report = session.report();
  report.detail(fmt::format("environment: {} (Python {}, {})", workspace.environment.place(),
                            wheel::render_version(workspace.environment.python_version),
                            workspace.environment.python));
  for (const ConfiguredIndex& index : workspace.settings.indexes) {
    report.detail(fmt::format("index: {} (from {})", index::redact_url(index.url), index.origin));
  }
  for (const index::Source* source : workspace.sources.find_links)
    report.detail("find-links: " + source->description());
  const std::string cache = session.cache_folder();
  report.detail("cache: " + (cache.empty() ? "none" : cache));
}

Outcome<resolver::Options> read_options(const Arguments& arguments) {
  resolver::Options options;
  options.dependencies = !arguments.has(Opt::no_deps);
  if (arguments.has(Opt::pre)) options.prereleases = resolver::Prereleases::allow;
  options.upgrade = arguments.has(Opt::upgrade);
  options.reinstall = arguments.has(Opt::reinstall);
  options.alternatives = arguments.has(Opt::alternatives);
  // A refit chooses among them.
  options.same_modules = arguments.has(Opt::overwrite) && !arguments.has(Opt::refit);
  options.variants = !arguments.has(Opt::no_variants);
  for (const std::string& name : arguments.values(Opt::no_variants_of)) {
    options.plain_only.insert(wheel::normalize_name(name));
  }
  for (const std::string& pin : arguments.values(Opt::variant)) {
    const std::size_t equals = pin.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pin.size()) {
      return misused(fmt::format("--variant {}: expected PKG=LABEL", pin),
                     "for example --variant demo=x86_64_v3");
    }
    options.pinned_variants[wheel::normalize_name(pin.substr(0, equals))] = pin.substr(equals + 1);
  }
  auto backend = torch_backend(arguments);
  if (!backend) return std::unexpected(backend.error());
  if (*backend && **backend != auto_backend) options.forced_labels["torch"] = **backend;
  // In a variable, `auto` is the same as the default; on the command line it is an explicit
  // request.
  if (arguments.value(Opt::torch_backend) == auto_backend) options.open_families.insert("torch");
  options.allow_backend_change = arguments.has(Opt::allow_backend_change);
  for (const std::string& ns : arguments.values(Opt::require)) {
    if (providers::find_provider(ns) == nullptr) {
      return misused(fmt::format("--require {}: unknown namespace", ns),
                     text::suggest(ns, providers::builtin_namespaces(),
                                   "for example --require nvidia; `variant providers list` shows "
                                   "them"));
    }
    options.required.insert(ns);
  }
  return options;
}

/// Values from the configuration for options that were not given on the command line.
void apply_choice(const Settings& settings, resolver::Options& options) {
  if (options.prereleases != resolver::Prereleases::allow)
    options.prereleases = settings.prereleases;
  options.dependencies = options.dependencies && !settings.no_deps;
  options.upgrade = options.upgrade || settings.upgrade;
  options.upgrade_of.insert(settings.upgrade_of.begin(), settings.upgrade_of.end());
  options.reinstall = options.reinstall || settings.reinstall;
  options.reinstall_of.insert(settings.reinstall_of.begin(), settings.reinstall_of.end());
}

/// Whether it asks for something else than what is installed.
bool changes_what_is_there(const Settings& settings) {
  return settings.upgrade || settings.reinstall || !settings.upgrade_of.empty() ||
         !settings.reinstall_of.empty();
}

resolver::UploadCutoff cutoff_of(const Cutoff& cutoff) {
  return {text::parse_rfc3339(cutoff.time).value_or(0),
          fmt::format("{} ({})", cutoff.time, cutoff.origin)};
}

/// "a, b" as its words.
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text::trim_ascii(text.substr(0, comma));
    if (!word.empty()) words.emplace_back(word);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return words;
}

/// Nobody has said which Python another system has.
void say_assumed_python(const Workspace& workspace, Session& session) {
  if (!session.for_another_system() || workspace.stated.interpreter.version) return;
  session.report().note(fmt::format(
      "the Python of that system is taken to be {}, as that of {}; "
      "--python-version states another",
      wheel::render_version(workspace.environment.python_version), workspace.environment.prefix));
}

/// --build, and who forbids it. Nothing is built for another machine, nor otherwise than pip or uv
/// are told to.
Outcome<void> apply_consent(const Session& session, const StatedTarget& stated,
                            const Settings& settings, resolver::BuildConsent& builds) {
  const Arguments& arguments = session.arguments();
  builds.all = arguments.has(Opt::build_from_source);
  for (const std::string& list : arguments.values(Opt::build_from_source_of)) {
    for (const std::string& name : split_list(list)) {
      if (!wheel::is_valid_name(name))
        return misused(fmt::format("--build={}: {} is not a valid name of a package", list, name));
      builds.names.insert(wheel::normalize_name(name));
    }
  }
  builds.refused = settings.no_build;
  if (!builds.all && builds.names.empty()) return {};
  if (session.elsewhere())
    return misused(
        "--build makes wheels for this machine, not for another one (--for, --platform)");
  if (stated.is_stated())
    return misused("--build makes wheels for this interpreter, not for another one");
  if (settings.build_settings.empty()) return {};
  return misused(fmt::format("{}: Axle does not pass this setting on to builds",
                             settings.build_settings.front().origin),
                 "unset it; or let pip or uv build a wheel, and name that");
}

/// Which files are eligible: their hashes, their age, whether they are wheels.
void apply_trust(const Settings& settings, resolver::Options& options) {
  options.require_hashes = settings.require_hashes;
  options.verify_hashes = settings.verify_hashes;
  options.trusted_hosts = settings.trusted_hosts;
  if (settings.exclude_newer) options.cutoffs.general = cutoff_of(*settings.exclude_newer);
  for (const auto& [name, cutoff] : settings.exclude_newer_package) {
    options.cutoffs.of_package[name] = cutoff ? std::optional(cutoff_of(*cutoff)) : std::nullopt;
  }
  apply_formats(settings.formats, options.wheel_use);
}

/// Values from a requirements file apply if the command line does not set them; lists are combined.
Arguments merged(const Arguments& command_line, const Arguments& of_files) {
  Arguments both = command_line;
  for (const Opt id : {Opt::index_url, Opt::no_index, Opt::pre, Opt::require_hashes}) {
    if (!both.has(id) && of_files.has(id)) both.add(id, of_files.value(id));
  }
  for (const auto& [id, value] :
       of_files.in_order({Opt::extra_index_url, Opt::find_links, Opt::no_binary, Opt::only_binary,
                          Opt::trusted_host})) {
    both.add(id, value);
  }
  return both;
}

/// As with pip and uv, no-index takes precedence wherever it is set.
void say_silenced_index(const Arguments& arguments, const Settings& settings, Report& report) {
  if (!settings.no_index || arguments.has(Opt::no_index)) return;
  for (const Opt id : {Opt::index_url, Opt::default_index, Opt::index}) {
    if (!arguments.has(id)) continue;
    report.warn(fmt::format("{} is not queried: no-index is set by {}", option_name(id),
                            settings.no_index_origin),
                "unset it, or add a folder or page with --find-links");
    return;
  }
}

Outcome<void> open_attestations(Workspace& workspace, Session& session) {
  auto policy = read_attestation_policy(session.arguments(), session.report());
  if (!policy) return std::unexpected(policy.error());
  auto checks = AttestationChecks::open(std::move(*policy), *workspace.transport, session.report());
  if (!checks) return std::unexpected(checks.error());
  workspace.attestations = std::move(*checks);
  return {};
}

/// Trusted plugins and enabled namespaces; plugins are installed from the same indexes as packages.
Outcome<void> open_plugins(Workspace& workspace, Session& session) {
  auto settings = read_provider_settings();
  if (!settings) return std::unexpected(settings.error());
  const Arguments& arguments = session.arguments();
  for (const std::string& name : arguments.values(Opt::trust)) {
    if (!wheel::is_valid_name(name)) {
      return misused(fmt::format("--trust {}: that is not a valid package name", name),
                     "use `variant providers trust` for a file");
    }
    settings->packages.push_back({wheel::normalize_name(name), {}});
  }
  auto policy = provider_policy(*settings, arguments);
  if (!policy) return std::unexpected(policy.error());
  resolver::ProviderPolicy& providers = workspace.options.providers;
  providers.enabled = std::move(policy->enabled);
  providers.disabled = std::move(policy->disabled);
  if (const std::string lists = arguments.value(Opt::supported); !lists.empty()) {
    auto given = read_supported_lists(lists);
    if (!given) return failed(given.error());
    providers.user_lists = std::move(*given);
  }
  workspace.plugin_environments = std::make_unique<InstalledEnvironments>(
      workspace.environment, workspace.sources, workspace.attestations.get(),
      session.cache_folder(), session.report());
  workspace.plugins = std::make_unique<TrustedPlugins>(
      TrustedPlugins::Setup{std::move(*settings), session.elsewhere(),
                            workspace.plugin_environments.get(), PluginFailures(session)});
  providers.plugins = workspace.plugins.get();
  return {};
}

/// The settings and what they say of indexes, for the environment in `prefix`, of which no more
/// than the interpreter's path need be known.
Outcome<void> open_configured_indexes(Workspace& workspace, Session& session,
                                      const Arguments& arguments, const RemoteText& remote,
                                      const std::string& prefix) {
  auto settings = read_settings(arguments, prefix, session.pip_section());
  if (!settings) return std::unexpected(settings.error());
  FilesRead limits;
  if (auto read = read_configured(*settings, remote, workspace.requests, limits); !read)
    return std::unexpected(read.error());
  std::ranges::move(limits.places, std::back_inserter(workspace.request_files));
  if (!limits.options.empty()) {
    settings = read_settings(merged(arguments, limits.options), prefix, session.pip_section());
    if (!settings) return std::unexpected(settings.error());
  }
  if (const auto taken = take_requested_sources(arguments, *settings); !taken)
    return std::unexpected(taken.error());
  workspace.settings = std::move(*settings);
  if (workspace.bundle != nullptr) workspace.settings.find_links.clear();
  auto transport = transport_options(workspace.settings);
  if (!transport) return std::unexpected(transport.error());
  // A command that changes something should see the current state of the index, not a cached one.
  const bool refresh = workspace.settings.refresh || changes_what_is_there(workspace.settings);
  workspace.sources = {};
  workspace.owned_sources.clear();
  workspace.families.reset();
  std::unique_ptr<index::Transport> asked = index::make_transport(std::move(*transport));
  if (workspace.bundle != nullptr)
    asked = index::make_bundle_transport(std::move(asked), workspace.bundle);
  workspace.transport = index::make_caching_transport(
      std::move(asked), {session.cache_folder(), workspace.settings.offline, refresh});
  auto families = open_families(arguments, *workspace.transport, session.report());
  if (!families) return std::unexpected(families.error());
  workspace.families = std::move(*families);
  return open_sources(workspace, arguments, session.report());
}

/// Sends for the pages that are needed in any case, unless all of it is installed.
void expect_requested(const Workspace& workspace) {
  const resolver::Sources& sources = workspace.sources;
  if (sources.indexes.empty()) return;
  for (const resolver::Request& request : workspace.requests.requirements) {
    const wheel::Requirement& wanted = request.requirement;
    const std::string name = wheel::normalize_name(wanted.name);
    if (!wanted.url.empty() || wanted.marker || sources.assigned.contains(name)) continue;
    if (sources.families != nullptr) {
      const auto family = sources.families->of_project(name);
      if (!family || *family != nullptr) continue;
    }
    sources.indexes.front()->prefetch(name);
  }
}

installer::EnvironmentRequest environment_request(const Session& session) {
  installer::EnvironmentRequest request;
  request.python = session.arguments().value(Opt::python);
  request.system = session.arguments().has(Opt::system);
  std::error_code ignored;
  request.working_dir = fs::current_path(ignored).string();
  request.path = variable("PATH");
  request.cache_folder = session.cache_folder();
  return request;
}

/// The same with the active environments.
installer::EnvironmentRequest own_environment_request(const Session& session) {
  installer::EnvironmentRequest request = environment_request(session);
  request.virtual_env = variable("VIRTUAL_ENV");
  request.conda_prefix = variable("CONDA_PREFIX");
  return request;
}

}  // namespace

void apply_formats(const std::vector<FormatWord>& words, resolver::WheelUse& use) {
  for (const auto& [forbids, name, origin] : words) {
    const bool all = name == ":all:";
    if (all || (name == ":none:" && forbids)) use.forbidden.clear();
    if (all || (name == ":none:" && !forbids)) use.only.clear();
    if (name == ":none:") continue;
    use.forbidden.erase(name);
    use.only.erase(name);
    if (forbids) {
      use.forbidden[name] = fmt::format("no-binary {}, from {}", name, origin);
    } else {
      use.only[name] = fmt::format("only-binary {}, from {}", name, origin);
    }
  }
}

Outcome<std::string> find_own_interpreter(const Session& session) {
  auto found = installer::find_interpreter(own_environment_request(session));
  if (!found) return failed(found.error());
  return *std::move(found);
}

Outcome<installer::Environment> find_base_interpreter(Session& session) {
  installer::EnvironmentRequest request = environment_request(session);
  request.system = request.python.empty();
  auto found = installer::find_environment(request);
  if (!found) return failed(found.error());
  return *std::move(found);
}

Outcome<installer::Environment> open_environment(
    Session& session, bool or_system,
    const std::function<void(const std::string& python, const std::string& prefix)>& meanwhile) {
  installer::EnvironmentRequest request = own_environment_request(session);
  request.meanwhile = meanwhile;
  auto environment = installer::find_environment(request);
  or_system = or_system || names_other_folders(session.arguments());
  if (!environment && or_system && request.python.empty() && !request.system &&
      environment.error().kind == ErrorKind::not_found) {
    request.system = true;
    environment = installer::find_environment(request);
  }
  if (!environment) return failed(environment.error());
  std::error_code absent;
  if (session.arguments().has(Opt::require_virtualenv) &&
      !fs::exists(environment->prefix + "/pyvenv.cfg", absent)) {
    return misused(
        fmt::format("{} is not a virtual environment, but one is required", environment->prefix),
        "choose one with --python, or unset require-virtualenv (PIP_REQUIRE_VIRTUALENV, "
        "pip.conf)");
  }
  if (auto chosen = choose_folders(*environment, session.arguments()); !chosen)
    return std::unexpected(chosen.error());
  return std::move(*environment);
}

RemoteText remote_files(Session& session, bool or_system) {
  Arguments arguments = session.arguments();
  if (arguments.has(Opt::bundle)) use_bundle_alone(arguments);
  return remote_text(arguments, [&session, or_system]() -> Outcome<std::string> {
    auto environment = open_environment(session, or_system);
    if (!environment) return std::unexpected(environment.error());
    return environment->prefix;
  });
}

Outcome<std::unique_ptr<Workspace>> open_workspace(Session& session, Purpose purpose) {
  const bool or_system = purpose != Purpose::install;
  system::prefer_large_pages();
  auto workspace = std::make_unique<Workspace>();
  workspace->cache_lock = share_cache(session.cache_folder(), session.report());
  auto bundle = open_bundle(session.arguments(), session.report());
  if (!bundle) return std::unexpected(bundle.error());
  workspace->bundle = *std::move(bundle);
  FilesRead files;
  const RemoteText remote = remote_files(session, or_system);
  auto requests = read_requests(session.arguments(), remote, files);
  if (!requests) return std::unexpected(requests.error());
  workspace->request_files = std::move(files.places);
  Arguments arguments = merged(session.arguments(), files.options);
  if (workspace->bundle != nullptr) use_bundle_alone(arguments);
  session.note_options_of_files(files.options);
  auto options = read_options(arguments);
  if (!options) return std::unexpected(options.error());
  auto stated = read_stated_target(arguments);
  if (!stated) return std::unexpected(stated.error());
  workspace->stated = *std::move(stated);
  options->whole_decisions = arguments.has(Opt::explain) || arguments.has(Opt::json);
  auto gpus = session.gpu_policy();
  if (!gpus) return std::unexpected(gpus.error());
  options->providers.gpus = std::move(*gpus);
  workspace->options = std::move(*options);

  // An interpreter takes as long to answer as dozens of pages to come.
  std::optional<Outcome<void>> early;
  std::string early_prefix;
  auto environment = open_environment(
      session, or_system, [&](const std::string& python, const std::string& prefix) {
        workspace->requests = *requests;
        workspace->environment.python = python;
        early_prefix = prefix;
        early = open_configured_indexes(*workspace, session, arguments, remote, prefix);
        if (*early) expect_requested(*workspace);
      });
  if (!environment) return std::unexpected(environment.error());
  const bool opened_early = early && environment->prefix == early_prefix &&
                            environment->python == workspace->environment.python;
  workspace->environment = std::move(*environment);
  if (!opened_early) {
    workspace->requests = std::move(*requests);
    early = open_configured_indexes(*workspace, session, arguments, remote,
                                    workspace->environment.prefix);
  }
  if (!*early) return std::unexpected(early->error());

  say_assumed_python(*workspace, session);
  say_silenced_index(arguments, workspace->settings, session.report());
  apply_choice(workspace->settings, workspace->options);
  apply_trust(workspace->settings, workspace->options);
  if (auto done =
          apply_consent(session, workspace->stated, workspace->settings, workspace->options.builds);
      !done)
    return std::unexpected(done.error());
  if (auto opened = open_attestations(*workspace, session); !opened)
    return std::unexpected(opened.error());
  if (const auto opened = open_plugins(*workspace, session); !opened)
    return std::unexpected(opened.error());
  if (!session.elsewhere() && !workspace->stated.is_stated()) {
    workspace->source_builds = std::make_unique<SourceBuilds>(SourceBuilds::Setup{
        workspace->environment, workspace->settings, workspace->options.wheel_use,
        *workspace->transport, workspace->attestations.get(), session.cache_folder(),
        build_time_limit(session.report()), session.report()});
    workspace->options.builds.builder = workspace->source_builds.get();
  }
  if (workspace->bundle != nullptr) {
    if (auto alone = refuse_places(workspace->requests); !alone)
      return std::unexpected(alone.error());
  }
  if (purpose != Purpose::save)
    allow_editables(workspace->requests, workspace->settings, workspace->options.builds);
  if (auto named = name_sources(workspace->requests, workspace->options,
                                workspace->environment.markers, session.report());
      !named)
    return std::unexpected(named.error());
  describe(*workspace, session);
  return workspace;
}

std::vector<resolver::Explanation> explain_misfits(const Workspace& workspace,
                                                   const resolver::Target& target) {
  std::vector<resolver::Explanation> misfits;
  CollectedReport said_before;
  for (const resolver::Request& request : workspace.requests.requirements) {
    auto explanation = resolver::explain(request.requirement, target, workspace.sources,
                                         workspace.options, said_before);
    if (explanation && !explanation->chosen) misfits.push_back(std::move(*explanation));
  }
  return misfits;
}

std::vector<plan::InstalledPackage> installed_packages(
    const std::vector<installer::InstalledDistribution>& distributions) {
  std::vector<plan::InstalledPackage> packages;
  packages.reserve(distributions.size());
  for (const installer::InstalledDistribution& distribution : distributions) {
    packages.push_back({distribution.name, distribution.metadata.version, distribution.variant,
                        distribution.metadata.requires_dist, distribution.variant_properties,
                        distribution.family, distribution.abi_needs});
  }
  return packages;
}

}  // namespace axle::session
