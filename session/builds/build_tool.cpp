#include "session/builds/build_tool.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "foundation/system/program_run.h"
#include "foundation/system/shell_command.h"
#include "index/http/url.h"
#include "session/default_index.h"
#include "session/index_access.h"
#include "session/settings/configured_indexes.h"

namespace axle::session {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

constexpr std::chrono::seconds answer_limit{20};

/// The second word of what `command` prints: "pip 26.3 from …". "" if it does not run.
std::string version_of(const std::vector<std::string>& command) {
  const auto answer = system::run_program({command}, {.time_limit = answer_limit});
  if (!answer || answer->exit_code != 0) return {};
  const std::size_t begin = std::min(answer->out.find(' '), answer->out.size());
  const std::size_t first = std::min(begin + 1, answer->out.size());
  return answer->out.substr(first, answer->out.find_first_of(" \n", first) - first);
}

unsigned major_of(std::string_view version) {
  unsigned major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

/// Both programs have the same options for them.
void add_backend_settings(const Settings& settings, std::vector<std::string>& command) {
  if (!settings.build_isolation) command.emplace_back("--no-build-isolation");
  for (const Stated& stated : settings.config_settings) command.push_back("-C" + stated.value);
}

std::string as_url(const std::string& place) {
  return place.starts_with('/') ? index::file_url(place) : place;
}

/// What both tools are told in their own ways.
struct Places {
  std::vector<std::string> others;  ///< indexes that are asked before the default
  std::string default_index;        ///< empty: none is asked
  std::vector<std::string> find_links;
};

Result<Places> places_of(const BuildSettings& build) {
  const Settings& settings = build.settings;
  Places places;
  for (const Stated& location : settings.find_links) {
    std::string place = as_url(absolute_place(location.value));
    if (!settings.offline || index::is_file_url(place))
      places.find_links.push_back(std::move(place));
  }
  if (settings.no_index || settings.offline) return places;
  for (const ConfiguredIndex& index : settings.indexes) {
    if (index.explicit_only) continue;
    (index.is_default ? places.default_index : places.others.emplace_back()) =
        as_url(url_with_login(index));
  }
  if (!places.default_index.empty()) return places;
  auto found = default_index_url(build.environment.python, build.path);
  if (!found) return std::unexpected(std::move(found).error());
  places.default_index = std::move(*found);
  return places;
}

std::string joined(const std::vector<std::string>& words, char separator) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : std::string(1, separator)) + word;
  return text;
}

void add_connection(const Settings& settings, Variables& variables) {
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) variables.emplace_back(name, value);
  };
  add("http_proxy", settings.http_proxy);
  add("https_proxy", settings.https_proxy);
  add("no_proxy", settings.no_proxy);
  add("SSL_CERT_FILE", settings.ca_file);
  add("SSL_CERT_DIR", settings.ca_folder);
}

/// Names after --no-binary or --only-binary, as `list` has them.
std::string names_of(const std::map<std::string, std::string, std::less<>>& list) {
  std::vector<std::string> names;
  for (const auto& [name, origin] : list) names.push_back(name);
  return joined(names, ',');
}

/// Why pip cannot do what the settings say; empty: it can.
std::string not_of_pip(const Settings& settings, std::string_view version) {
  const auto asked = std::ranges::count(settings.indexes, false, &ConfiguredIndex::explicit_only);
  const bool with_default = std::ranges::any_of(settings.indexes, &ConfiguredIndex::is_default);
  const bool several = asked + (with_default || settings.no_index ? 0 : 1) > 1;
  if (several && !settings.no_index && !settings.offline &&
      settings.index_strategy != index::IndexStrategy::unsafe_best_match)
    return "pip would mix the indexes, which --index-strategy unsafe-best-match allows";
  const bool limits =
      !settings.build_constraint_files.empty() || !settings.build_constraint_texts.empty();
  constexpr unsigned first_with_limits = 26;
  if (limits && major_of(version) < first_with_limits)
    return fmt::format("pip {} has no --build-constraint", version);
  if (!settings.exclude_newer_package.empty()) return "pip has no --exclude-newer-package";
  constexpr unsigned first_with_cutoff = 26;
  if (settings.exclude_newer && major_of(version) < first_with_cutoff)
    return fmt::format("pip {} has no --uploaded-prior-to", version);
  return {};
}

const std::vector<std::string> withheld_names = {
    "PIP_",     "UV_",        "http_proxy",  "https_proxy", "all_proxy",
    "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",   "NO_PROXY"};

BuildTool pip_tool(const BuildSettings& build, const Places& places, const std::string& version) {
  const Settings& settings = build.settings;
  BuildTool tool{"pip " + version,
                 {build.environment.python, "-I", "-m", "pip", "wheel", "--no-deps"},
                 "--wheel-dir",
                 "--build-constraint",
                 true,
                 {{"PIP_CONFIG_FILE", "/dev/null"},
                  {"PIP_DISABLE_PIP_VERSION_CHECK", "1"},
                  {"PIP_NO_INPUT", "1"},
                  {"PIP_PROGRESS_BAR", "off"},
                  // Its own cache would give what another file at the same place once made.
                  {"PIP_NO_CACHE_DIR", "1"},
                  {"PIP_TIMEOUT", std::to_string(settings.timeout_seconds)}},
                 withheld_names};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) tool.variables.emplace_back(name, value);
  };
  if (places.default_index.empty()) add("PIP_NO_INDEX", "1");
  add("PIP_INDEX_URL", places.default_index);
  add("PIP_EXTRA_INDEX_URL", joined(places.others, ' '));
  add("PIP_FIND_LINKS", joined(places.find_links, ' '));
  add("PIP_TRUSTED_HOST", joined(settings.trusted_hosts, ' '));
  add("PIP_CERT", settings.ca_file);
  // In pip ":all:" of one list clears the other, so it is said first.
  const bool none_first = build.wheel_use.forbidden.contains(":all:");
  if (none_first) add("PIP_NO_BINARY", names_of(build.wheel_use.forbidden));
  add("PIP_ONLY_BINARY", names_of(build.wheel_use.only));
  if (!none_first) add("PIP_NO_BINARY", names_of(build.wheel_use.forbidden));
  if (settings.exclude_newer) add("PIP_UPLOADED_PRIOR_TO", settings.exclude_newer->time);
  if (settings.keyring_provider == KeyringProvider::subprocess)
    add("PIP_KEYRING_PROVIDER", "subprocess");
  add_connection(settings, tool.variables);
  add_backend_settings(settings, tool.command);
  return tool;
}

std::string render_strategy(index::IndexStrategy strategy) {
  switch (strategy) {
    case index::IndexStrategy::unsafe_first_match:
      return "unsafe-first-match";
    case index::IndexStrategy::unsafe_best_match:
      return "unsafe-best-match";
    case index::IndexStrategy::first_index:
      break;
  }
  return "first-index";
}

BuildTool uv_tool(const BuildSettings& build, const Places& places, const std::string& program,
                  const std::string& version) {
  const Settings& settings = build.settings;
  BuildTool tool{"uv " + version,
                 {program, "build", "--wheel"},
                 "--out-dir",
                 "--build-constraints",
                 false,
                 {{"UV_NO_CONFIG", "1"},
                  {"UV_NO_PROGRESS", "1"},
                  {"UV_PYTHON", build.environment.python},
                  {"UV_PYTHON_DOWNLOADS", "never"},
                  {"UV_INDEX_STRATEGY", render_strategy(settings.index_strategy)},
                  {"UV_HTTP_TIMEOUT", std::to_string(settings.timeout_seconds)}},
                 withheld_names};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) tool.variables.emplace_back(name, value);
  };
  add("UV_CACHE_DIR", build.uv_cache);
  // Of these there is no variable that `uv build` reads.
  if (places.default_index.empty()) tool.command.emplace_back("--no-index");
  const auto add_formats = [&](const auto& list, const std::string& option) {
    for (const auto& [name, origin] : list) {
      const bool all = name == ":all:";
      tool.command.push_back(all ? option : option + "-package");
      if (!all) tool.command.push_back(name);
    }
  };
  add_formats(build.wheel_use.forbidden, "--no-binary");
  add_formats(build.wheel_use.only, "--no-build");
  if (!build.keeps_cache) tool.command.emplace_back("--no-cache");
  if (settings.offline) tool.command.emplace_back("--offline");
  add("UV_DEFAULT_INDEX", places.default_index);
  add("UV_INDEX", joined(places.others, ' '));
  add("UV_FIND_LINKS", joined(places.find_links, ','));
  add("UV_INSECURE_HOST", joined(settings.trusted_hosts, ' '));
  if (settings.exclude_newer) add("UV_EXCLUDE_NEWER", settings.exclude_newer->time);
  for (const auto& [name, cutoff] : settings.exclude_newer_package) {
    tool.command.emplace_back("--exclude-newer-package");
    tool.command.push_back(name + "=" + (cutoff ? cutoff->time : "false"));
  }
  if (settings.keyring_provider == KeyringProvider::subprocess)
    add("UV_KEYRING_PROVIDER", "subprocess");
  add_connection(settings, tool.variables);
  add_backend_settings(settings, tool.command);
  return tool;
}

}  // namespace

Result<BuildTool> find_build_tool(const BuildSettings& build) {
  const std::string& python = build.environment.python;
  const std::string pip = version_of({python, "-I", "-m", "pip", "--version"});
  std::string why =
      pip.empty() ? fmt::format("{} has no pip", python) : not_of_pip(build.settings, pip);
  const bool by_pip = why.empty();
  const auto uv = by_pip ? std::nullopt : installer::find_program("uv", build.path);
  const std::string uv_version = uv ? version_of({*uv, "--version"}) : std::string();
  if (!by_pip && uv_version.empty()) {
    return fail(
        ErrorKind::io,
        fmt::format("nothing can be built from source: {}, and there is no uv on PATH", why),
        pip.empty() ? fmt::format("install pip (`{} -m ensurepip`) or uv", shell_word(python))
                    : std::string("install uv, or unset what pip cannot do"));
  }
  auto places = places_of(build);
  if (!places) return std::unexpected(std::move(places).error());
  return by_pip ? pip_tool(build, *places, pip) : uv_tool(build, *places, *uv, uv_version);
}

}  // namespace axle::session
