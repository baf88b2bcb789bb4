#include "session/builds/source_names.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/documents/toml_reader.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "installer/file_access.h"
#include "resolver/catalogue/listed_files.h"
#include "resolver/request/source_url.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::session {

namespace {

/// [project] name of the folder at `url`, if it says one: nothing need run to know it.
std::string stated_name(const resolver::SourceUrl& source) {
  if (source.kind != resolver::SourceUrl::Kind::folder) return {};
  constexpr std::size_t longest_file = 1U << 20;
  const auto folder = index::file_path(source.url);
  if (!folder) return {};
  const std::string file = *folder + "/" + source.subdirectory + "/pyproject.toml";
  const auto text = installer::read_file(file, longest_file);
  if (!text) return {};
  const auto document = documents::parse_toml(*text, file);
  if (!document) return {};
  const auto name = (*document)["project"]["name"].value<std::string>();
  return name && wheel::is_valid_name(*name) ? wheel::normalize_name(*name) : std::string();
}

/// Who says that it is not built; empty: nobody. What is said of a single package may concern one
/// whose name only its build says.
std::string refusal(const std::string& name, const resolver::Options& options) {
  if (!name.empty()) {
    const std::string* who = options.refuses_build(name);
    return who == nullptr ? std::string() : *who;
  }
  for (const auto* said : {&options.builds.refused, &options.wheel_use.only}) {
    if (!said->empty()) return said->begin()->second + ", and its name is not known before";
  }
  return {};
}

Result<std::string> name_of(const resolver::Request& request, const resolver::Options& options,
                            const resolver::HashRules& rules) {
  const std::string& url = request.requirement.url;
  if (auto listed = resolver::check_listed({&request}, {}, rules); !listed)
    return std::unexpected(std::move(listed).error());
  auto source = resolver::parse_source_url(url);
  if (!source) return std::unexpected(std::move(source).error());
  const std::string shown = index::redact_url(url);
  if (options.builds.builder == nullptr)
    return fail(ErrorKind::conflict,
                fmt::format("{} is not built for another machine or interpreter", shown),
                "leave out --for, --platform, --python-version and the like, or name a wheel");
  std::string name = stated_name(*source);
  if (const std::string why = refusal(name, options); !why.empty())
    return fail(ErrorKind::conflict, fmt::format("{} is not built: {}", shown, why),
                "unset it, or write `NAME @ URL`");
  if (!name.empty()) return name;
  const auto built = options.builds.builder->build(
      resolver::NamedSource{{},
                            url,
                            rules.count ? request.hashes : std::vector<wheel::ListedHash>(),
                            options.builds.editable.contains(url)});
  if (!built) return std::unexpected(built.error());
  const auto wheel = wheel::parse_wheel_name(built->file.filename);
  if (!wheel) return std::unexpected(wheel.error());
  return wheel::normalize_name(wheel->distribution);
}

}  // namespace

Outcome<void> name_sources(resolver::Requests& requests, const resolver::Options& options,
                           const wheel::MarkerEnvironment& markers, Report& report) {
  const resolver::HashRules rules = resolver::hash_rules(requests, options);
  std::vector<resolver::Request> named;
  for (resolver::Request& request : requests.requirements) {
    wheel::Requirement& requirement = request.requirement;
    if (requirement.name.empty()) {
      if (requirement.marker && !requirement.marker->evaluate(markers, "")) {
        report.note(fmt::format("{} does not apply here", index::redact_url(requirement.url)));
        continue;
      }
      auto name = name_of(request, options, rules);
      if (!name) {
        Error error = std::move(name).error();
        return failed(request.origin.empty() ? std::move(error)
                                             : within(request.origin, std::move(error)));
      }
      requirement.name = std::move(*name);
    }
    named.push_back(std::move(request));
  }
  requests.requirements = std::move(named);
  return {};
}

void allow_editables(const resolver::Requests& requests, const Settings& settings,
                     resolver::BuildConsent& builds) {
  for (const resolver::Request& request : requests.requirements) {
    const auto source = resolver::parse_source_url(request.requirement.url);
    if (!request.editable || settings.no_editable || !source) continue;
    std::string name = wheel::normalize_name(request.requirement.name);
    if (name.empty()) name = stated_name(*source);
    if (!settings.no_editable_of.contains(name)) builds.editable.insert(request.requirement.url);
  }
}

}  // namespace axle::session
