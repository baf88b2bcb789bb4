#include "cli/requests.h"

#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "cli/requirements_file.h"
#include "index/transport.h"
#include "report/shell_command.h"
#include "resolver/direct_wheel.h"
#include "wheel/ascii.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::cli {

namespace {

/// For what pip makes a wheel of.
std::string build_hint(std::string_view source) {
  return fmt::format(
      "let pip build a wheel: `pip wheel --no-deps --wheel-dir wheels {}`, then install it: "
      "`variant install wheels/*.whl`",
      shell_word(source));
}

namespace fs = std::filesystem;

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
    auto requirement = resolver::requirement_of_file(absolute_place(url));
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
      requests.wheel_files.push_back(absolute_place(wheel->place));
      return {};
    }
    auto requirement = requirement_at(*wheel);
    if (!requirement) return failed(requirement.error());
    requests.requirements.push_back(std::move(*requirement));
    return {};
  }
  if (text.starts_with("git+") || text.starts_with("hg+") || text.starts_with("svn+") ||
      text.starts_with("bzr+")) {
    return misused(fmt::format("`{}` is a repository, not a wheel", text), build_hint(text));
  }
  // As with pip, a folder is one by its separator: a checkout of torch may lie where torch is
  // installed.
  std::error_code not_a_path;
  const bool is_path = text.contains('/') || text.starts_with('.');
  if ((is_path && fs::is_directory(text, not_a_path)) || text.ends_with(".tar.gz") ||
      text.ends_with(".zip")) {
    return misused(fmt::format("`{}` is a source, not a wheel", text), build_hint(text));
  }
  auto requirement = wheel::parse_requirement(text);
  if (!requirement) return misused(requirement.error().message, requirement.error().hint);
  requests.requirements.push_back(std::move(*requirement));
  return {};
}

}  // namespace

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
    if (!constraint->extras.empty()) {
      return misused(fmt::format("the constraint `{}` asks for extras", text),
                     "a constraint only limits versions: name the extras in a requirement");
    }
    requests.constraints.push_back(std::move(*constraint));
  }
  options_of_files = file.options;
  return requests;
}

std::string absolute_place(const std::string& text) {
  if (text.find("://") != std::string::npos) return text;
  std::error_code ignored;
  return fs::absolute(text, ignored).lexically_normal().string();
}

}  // namespace axle::cli
