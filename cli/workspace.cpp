#include "cli/workspace.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "cli/default_index.h"
#include "cli/requirements_file.h"
#include "cli/variables.h"
#include "cli/version.h"
#include "resolver/direct_wheel.h"
#include "wheel/ascii.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::cli {

namespace {

namespace fs = std::filesystem;

index::TransportOptions transport_options(const IndexSettings& settings, bool offline) {
  index::TransportOptions options;
  options.ca_file = settings.ca_file;
  options.http_proxy = settings.http_proxy;
  options.https_proxy = settings.https_proxy;
  options.no_proxy = settings.no_proxy;
  options.timeout_seconds = settings.timeout_seconds;
  options.trusted_hosts = settings.trusted_hosts;
  options.user_agent = fmt::format("axle/{}", version);
  options.offline = offline;
  return options;
}

/// Folders may be given as paths, relative ones too.
std::string place(const std::string& text) {
  if (text.find("://") != std::string::npos) return text;
  std::error_code ignored;
  return fs::absolute(text, ignored).lexically_normal().string();
}

void open_sources(Workspace& workspace, Report& report) {
  const auto add = [&](std::unique_ptr<index::Source> source, std::vector<index::Source*>& into) {
    into.push_back(source.get());
    workspace.owned_sources.push_back(std::move(source));
  };
  const IndexSettings& settings = workspace.settings;
  if (!settings.no_index) {
    for (const std::string& url : settings.extra_index_urls) {
      add(index::make_simple_source(place(url), *workspace.transport, report),
          workspace.sources.indexes);
    }
    if (!settings.index_url.empty()) {
      add(index::make_simple_source(place(settings.index_url), *workspace.transport, report),
          workspace.sources.indexes);
    }
  }
  for (const std::string& location : settings.find_links) {
    add(index::make_find_links_source(place(location), *workspace.transport, report),
        workspace.sources.find_links);
  }
  workspace.sources.transport = workspace.transport.get();
}

/// For --verbose: what the configuration came to.
void describe(const Workspace& workspace, Session& session) {
  Output& output = session.output();
  const IndexSettings& settings = workspace.settings;
  output.detail(fmt::format("environment: {} (Python {}, {})", workspace.environment.prefix,
                            wheel::render_version(workspace.environment.python_version),
                            workspace.environment.python));
  if (!settings.no_index && !settings.index_url.empty()) {
    output.detail(fmt::format("index: {} (from {})", index::redact_url(settings.index_url),
                              settings.index_origin));
  }
  for (const index::Source* source : workspace.sources.find_links)
    output.detail("find-links: " + source->description());
  const std::string cache = session.cache_folder();
  output.detail("cache: " + (cache.empty() ? "none" : cache));
}

/// A wheel by its place, as pip takes it: PATH or URL, then perhaps [extras], then perhaps ;
/// marker.
struct WheelPlace {
  std::string place;
  std::string extras;  ///< with the brackets
  std::string marker;
};

std::optional<WheelPlace> parse_wheel_place(std::string_view text) {
  if (text.find(" @ ") != std::string_view::npos) return std::nullopt;
  WheelPlace wheel;
  // A URL may hold a semicolon of its own: there a blank must follow.
  const bool is_url = text.find("://") != std::string_view::npos;
  const std::size_t semicolon = text.find(is_url ? "; " : ";");
  if (semicolon != std::string_view::npos) wheel.marker = text.substr(semicolon + 1);
  text = wheel::trim_ascii(text.substr(0, semicolon));
  if (text.ends_with(']') && text.find('[') != std::string_view::npos) {
    wheel.extras = text.substr(text.rfind('['));
    text = text.substr(0, text.rfind('['));
  }
  wheel.place = text;
  if (!text.substr(0, is_url ? text.find_first_of("#?") : text.npos).ends_with(".whl"))
    return std::nullopt;
  return wheel;
}

Result<wheel::Requirement> requirement_at(const WheelPlace& wheel) {
  std::string url = wheel.place;
  std::string name;
  if (url.find("://") == std::string::npos) {
    auto requirement = resolver::requirement_of_file(place(url));
    if (!requirement) return requirement;
    url = requirement->url;
    name = requirement->name;
  } else {
    const std::string path = url.substr(0, url.find_first_of("#?"));
    auto parsed = wheel::parse_wheel_name(index::percent_decode(path.substr(path.rfind('/') + 1)));
    if (!parsed) return std::unexpected(parsed.error());
    name = parsed->distribution;
  }
  const std::string marker = wheel.marker.empty() ? std::string() : " ; " + wheel.marker;
  return wheel::parse_requirement(name + wheel.extras + " @ " + url + marker);
}

Outcome<void> take_requirement(const std::string& text, resolver::Requests& requests) {
  if (const auto wheel = parse_wheel_place(text)) {
    if (wheel->extras.empty() && wheel->marker.empty() &&
        wheel->place.find("://") == std::string::npos) {
      requests.wheel_files.push_back(place(wheel->place));
      return {};
    }
    auto requirement = requirement_at(*wheel);
    if (!requirement) return failed(requirement.error());
    requests.requirements.push_back(std::move(*requirement));
    return {};
  }
  if (text.starts_with("git+") || text.starts_with("hg+") || text.starts_with("svn+") ||
      text.starts_with("bzr+")) {
    return misused(fmt::format("`{}` is a repository, not a wheel", text),
                   fmt::format("let pip build it: python -m pip wheel --no-deps '{}'", text));
  }
  std::error_code not_a_path;
  if (fs::is_directory(text, not_a_path) || text.ends_with(".tar.gz") || text.ends_with(".zip")) {
    return misused(fmt::format("`{}` is a source, not a wheel", text),
                   fmt::format("let pip build it: python -m pip wheel --no-deps '{}'", text));
  }
  auto requirement = wheel::parse_requirement(text);
  if (!requirement) return misused(requirement.error().message, requirement.error().hint);
  requests.requirements.push_back(std::move(*requirement));
  return {};
}

/// Positionals and -r, -c files; options found in the files are added to `options_of_files`.
Outcome<resolver::Requests> read_requests(const Arguments& arguments, Arguments& options_of_files) {
  RequirementsFile file;
  for (const std::string& path : arguments.values(Opt::requirement)) {
    const Result<void> read = read_requirements_file(path, false, file);
    if (!read) return failed(read.error());
  }
  for (const std::string& path : arguments.values(Opt::constraint)) {
    const Result<void> read = read_requirements_file(path, true, file);
    if (!read) return failed(read.error());
  }
  resolver::Requests requests;
  std::vector<std::string> texts = arguments.positionals;
  texts.insert(texts.end(), file.requirements.begin(), file.requirements.end());
  for (const std::string& text : texts) {
    const Outcome<void> taken = take_requirement(text, requests);
    if (!taken) return std::unexpected(taken.error());
  }
  for (const std::string& text : file.constraints) {
    auto constraint = wheel::parse_requirement(text);
    if (!constraint) return failed(constraint.error());
    requests.constraints.push_back(std::move(*constraint));
  }
  options_of_files = file.options;
  return requests;
}

Outcome<resolver::Options> read_options(const Arguments& arguments) {
  resolver::Options options;
  options.dependencies = !arguments.has(Opt::no_deps);
  options.prereleases = arguments.has(Opt::pre);
  options.upgrade = arguments.has(Opt::upgrade);
  options.reinstall = arguments.has(Opt::reinstall);
  options.variants = !arguments.has(Opt::no_variants);
  for (const std::string& name : arguments.values(Opt::no_variants_of)) {
    options.plain_only.insert(wheel::normalize_name(name));
  }
  for (const std::string& pin : arguments.values(Opt::variant)) {
    const std::size_t equals = pin.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pin.size()) {
      return misused(fmt::format("--variant {}: it wants PKG=LABEL", pin),
                     "for example --variant demo=x86_64_v3");
    }
    options.pinned_variants[wheel::normalize_name(pin.substr(0, equals))] = pin.substr(equals + 1);
  }
  return options;
}

/// What a requirements file says counts where the command line is silent; lists are added.
Arguments merged(const Arguments& command_line, const Arguments& of_files) {
  Arguments both = command_line;
  for (const Opt id : {Opt::index_url, Opt::no_index, Opt::pre}) {
    if (!both.has(id) && of_files.has(id)) both.add(id, of_files.value(id));
  }
  for (const Opt id : {Opt::extra_index_url, Opt::find_links}) {
    for (const std::string& value : of_files.values(id)) both.add(id, value);
  }
  return both;
}

}  // namespace

Outcome<installer::Environment> open_environment(Session& session, bool or_system) {
  installer::EnvironmentRequest request;
  request.python = session.arguments().value(Opt::python);
  request.system = session.arguments().has(Opt::system);
  request.virtual_env = variable("VIRTUAL_ENV");
  request.conda_prefix = variable("CONDA_PREFIX");
  std::error_code ignored;
  request.working_dir = fs::current_path(ignored).string();
  request.path = variable("PATH");
  request.cache_folder = session.cache_folder();
  auto environment = installer::find_environment(request);
  if (!environment && or_system && request.python.empty() && !request.system &&
      environment.error().kind == ErrorKind::not_found) {
    request.system = true;
    environment = installer::find_environment(request);
  }
  if (!environment) return failed(environment.error());
  return std::move(*environment);
}

Outcome<std::unique_ptr<Workspace>> open_workspace(Session& session, bool or_system) {
  auto workspace = std::make_unique<Workspace>();
  Arguments of_files;
  auto requests = read_requests(session.arguments(), of_files);
  if (!requests) return std::unexpected(requests.error());
  workspace->requests = std::move(*requests);
  const Arguments arguments = merged(session.arguments(), of_files);
  auto options = read_options(arguments);
  if (!options) return std::unexpected(options.error());
  workspace->options = std::move(*options);

  auto environment = open_environment(session, or_system);
  if (!environment) return std::unexpected(environment.error());
  workspace->environment = std::move(*environment);

  workspace->settings =
      read_index_settings(arguments, workspace->environment.prefix, session.output());
  IndexSettings& settings = workspace->settings;
  if (arguments.has(Opt::index_url) && settings.index_url.empty()) {
    return misused("--index-url is empty", "leave it out to take the configured index");
  }
  if (settings.index_url.empty() && !settings.no_index) {
    auto index = find_default_index(workspace->environment.python, variable("PATH"));
    // Wheels that are named by their place may do without.
    const bool needed = std::ranges::any_of(workspace->requests.requirements,
                                            [](const auto& wanted) { return wanted.url.empty(); });
    if (!index && needed) return failed(index.error());
    if (index) {
      settings.index_url = index->url;
      settings.index_origin = index->origin;
    }
  }
  const bool offline = arguments.has(Opt::offline);
  workspace->transport =
      index::make_caching_transport(index::make_transport(transport_options(settings, offline)),
                                    {session.cache_folder(), offline});
  open_sources(*workspace, session.output());
  describe(*workspace, session);
  return workspace;
}

resolver::Target make_target(const installer::Environment& environment,
                             const detect::Machine& machine, bool elsewhere) {
  wheel::TagTarget tags = environment.tag_target;
  wheel::MarkerEnvironment markers = environment.markers;
  if (elsewhere) {
    tags.architecture = std::string(detect::render_arch(machine.cpu.arch));
    if (!machine.libc.family.empty()) {
      tags.libc_family = machine.libc.family;
      tags.libc_major = machine.libc.major;
      tags.libc_minor = machine.libc.minor;
    }
    markers.strings["platform_machine"] = tags.architecture;
    markers.strings["platform_system"] = "Linux";
    markers.strings["sys_platform"] = "linux";
    markers.strings["os_name"] = "posix";
    markers.strings["platform_release"] = machine.os.kernel;
    markers.strings["platform_version"] = "";
  }
  return {&machine, wheel::supported_tags(tags), std::move(markers), environment.python_version};
}

std::vector<resolver::Explanation> explain_misfits(const Workspace& workspace,
                                                   const resolver::Target& target) {
  std::vector<resolver::Explanation> misfits;
  CollectedReport said_before;
  for (const wheel::Requirement& requirement : workspace.requests.requirements) {
    auto explanation =
        resolver::explain(requirement, target, workspace.sources, workspace.options, said_before);
    if (explanation && !explanation->chosen) misfits.push_back(std::move(*explanation));
  }
  return misfits;
}

std::vector<resolver::InstalledPackage> installed_packages(
    const std::vector<installer::InstalledDistribution>& distributions) {
  std::vector<resolver::InstalledPackage> packages;
  packages.reserve(distributions.size());
  for (const installer::InstalledDistribution& distribution : distributions) {
    packages.push_back({distribution.name, distribution.metadata.version, distribution.variant,
                        distribution.metadata.requires_dist, distribution.variant_properties});
  }
  return packages;
}

}  // namespace axle::cli
